// SPDX-License-Identifier: Apache-2.0
// Lets a caller end a step while it runs: all workers leave it at the same barrier.
//
// Generated code knows nothing of it. Before worker 0 comes to a barrier, it asks the caller, and notes the barrier's
// number if the step is to end there. Behind a barrier every worker looks whether it was this one; then it leaves the
// step function with longjmp, on its own stack, which has nothing to clean up.
#pragma once

#include "runtime/talc.h"

#include <atomic>

namespace talc {

class StepAbort {
public:
  StepAbort(talc_should_abort ask, void *user) : ask(ask), user(user) {}

  // Before a step.
  void begin() { end.store(0, std::memory_order_relaxed); }
  // By worker 0, before barrier `number` of the step, counted from 1.
  void askBefore(int64_t number) {
    if (ask(user) != 0)
      end.store(number, std::memory_order_relaxed);  // the barrier shows it to the others
  }
  // By every worker, behind it.
  bool endsAt(int64_t number) const { return end.load(std::memory_order_relaxed) == number; }
  // After the step.
  bool ended() const { return !endsAt(0); }

private:
  const talc_should_abort ask;
  void *const user;
  std::atomic<int64_t> end{0};
};

}  // namespace talc
