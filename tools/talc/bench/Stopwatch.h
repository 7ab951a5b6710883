// SPDX-License-Identifier: Apache-2.0
// The clock of measurements: work of one thread is timed by the CPU time of that thread, which other programs do not
// change; work of several threads by the time that passes.
#pragma once

#include <cstdint>
#include <ctime>

namespace talc::bench {

class Stopwatch {
public:
  // To be read by the thread that made it. Any number but 1: the time that passes.
  explicit Stopwatch(int32_t threads) : clock(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC), start(now()) {}

  int64_t nanoseconds() const { return now() - start; }
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds()); }

private:
  int64_t now() const {
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
  }

  clockid_t clock;
  int64_t start;
};

}  // namespace talc::bench
