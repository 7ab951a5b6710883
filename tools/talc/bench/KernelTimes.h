// SPDX-License-Identifier: Apache-2.0
// Collects the marks of a session: how long every thread worked on every kernel, and waited for others behind it.
#pragma once

#include "runtime/session/Session.h"

#include <cstdint>
#include <ctime>
#include <vector>

namespace talc::bench {

// Of one kernel in one step, all calls together; seconds are means over the threads.
struct KernelTime {
  double working = 0, waiting = 0;  // waiting: at the barriers that follow
  int64_t barriers = 0;             // crossed
  double total() const { return working + waiting; }
};

class KernelTimes {
public:
  KernelTimes(int32_t threads, size_t kernels);

  // From now on the session's marks come here; this object must not move, and must outlive the measured steps.
  void attach(Session &session);
  void detach(Session &session) { session.measure(nullptr, nullptr); }

  // What the step since the last call took, by kernel; and what the marks themselves took, which is not in it. On a
  // device with a clock: how long its launches ran, and the time until the next one began.
  std::vector<KernelTime> takeStep(const Session &session);
  double takeOverhead();

private:
  std::vector<KernelTime> takeMarks();
  static void mark(void *state, int64_t thread, int64_t kernel);

  // Apart from other threads' memory.
  struct alignas(128) Thread {
    int64_t last = 0;     // when the last mark came
    int64_t kernel = -1;  // which kernel ended last
    int64_t marks = 0;
    std::vector<int64_t> working, waiting, barriers;
  };

  clockid_t clock;
  int64_t reading;  // nanoseconds that reading the clock takes
  std::vector<Thread> threads;
};

}  // namespace talc::bench
