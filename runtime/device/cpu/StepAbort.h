// SPDX-License-Identifier: Apache-2.0
// Lets a caller end a running step: all workers leave it at the same barrier.
//
// Generated code is not involved. Worker 0 asks the caller before a barrier, and stores the barrier's number if the
// step is to end there. After a barrier every worker checks whether it was this one; if so, it leaves the step function
// with longjmp, on its own stack, which has nothing to clean up.
#pragma once

#include "runtime/talc.h"

#include <atomic>

namespace talc {

class StepAbort {
public:
  StepAbort(talc_should_abort ask, void *user) : ask(ask), user(user) {}

  // To be called before a step.
  void begin() { end.store(0, std::memory_order_relaxed); }
  // To be called by worker 0 before barrier `number` of the step, counted from 1.
  void askBefore(int64_t number) {
    if (ask(user) != 0)
      end.store(number, std::memory_order_relaxed);  // the barrier shows it to the others
  }
  // To be called by every worker after the barrier.
  bool endsAt(int64_t number) const { return end.load(std::memory_order_relaxed) == number; }
  // To be called after the step.
  bool ended() const { return !endsAt(0); }

private:
  const talc_should_abort ask;
  void *const user;
  std::atomic<int64_t> end{0};
};

}  // namespace talc
