// SPDX-License-Identifier: Apache-2.0
// The clock of measurements: work of one thread is timed by the CPU time of that thread, which other programs do not
// change; work of several threads, or of none, by the time that passes.
#pragma once

#include <cstdint>
#include <ctime>

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

}  // namespace talc::bench
