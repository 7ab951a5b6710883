// SPDX-License-Identifier: Apache-2.0
// The clock of measurements, and mean, deviation and median of samples. The work of one thread is timed by the CPU time
// of that thread, which other programs do not change; the work of several threads, or of none, by the time that passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <vector>

namespace talc::bench {

class Stopwatch {
public:
  // To be read by the thread that made it.
  explicit Stopwatch(int32_t threads) : clock(clockFor(threads)), start(now(clock)) {}

  int64_t nanoseconds() const { return now(clock) - start; }
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds()); }

  static clockid_t clockFor(int32_t threads) { return threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC; }
  static int64_t now(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
  }

private:
  clockid_t clock;
  int64_t start;
};

inline double mean(const std::vector<double> &samples) {
  double sum = 0;
  for (double sample : samples)
    sum += sample;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

// The standard deviation of a sample, with n - 1 degrees of freedom; 0 for a single value.
inline double deviation(const std::vector<double> &samples) {
  if (samples.size() < 2)
    return 0;
  double center = mean(samples), sum = 0;
  for (double sample : samples)
    sum += (sample - center) * (sample - center);
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

inline double median(std::vector<double> samples) {
  if (samples.empty())
    return 0;
  auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace talc::bench
