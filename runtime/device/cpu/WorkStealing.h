// SPDX-License-Identifier: Apache-2.0
// Work stealing: every thread has a share of the tasks of an op, and takes tasks of others when its own are done.
#pragma once

#include "runtime/device/cpu/EventCount.h"

#include <vector>

namespace talc {

// Threads pass the same ops in the same order, but not at the same time: a thread whose share is done goes on to the
// next op without the others. So a thread takes tasks of a share only after its owner has reached the op, since its
// inputs are complete then. The owner leaves the op when all of its share is done, by whichever threads.
class WorkStealing {
public:
  explicit WorkStealing(int32_t maxThreads) : shares(maxThreads), threads(maxThreads) {}

  // Returns the next task in [0, tasks) of an op for `thread`, or `tasks` when its share is done and there is nothing
  // to steal. A thread that asks again has finished the task that it got before.
  int64_t nextTask(int64_t thread, int64_t op, int64_t tasks, Waiter &waiter);

  // Begins with op 0, on `count` threads. No thread may be asking for tasks.
  void begin(int32_t count);

private:
  // A thread's share of an op's tasks.
  struct Range {
    int64_t first, size;
  };

  // The state of a thread: one word holds the op, how many of its tasks are taken, and how many of these other threads
  // are still doing.
  struct alignas(64) Share {
    bool take(uint64_t tag, int64_t size, uint64_t helpers, int64_t &task);
    int64_t takeAlone(uint64_t tag, int64_t tasks);

    std::atomic<uint64_t> word{0};
    EventCount returned;      // changes when another thread has finished a task
    Share *helped = nullptr;  // the owner of the task that this thread got last, if it was stolen
  };

  Range getRange(int64_t thread, int64_t tasks) const;
  static void finish(Share &own, Waiter &waiter);

  std::vector<Share> shares;
  int64_t threads;
};

}  // namespace talc
