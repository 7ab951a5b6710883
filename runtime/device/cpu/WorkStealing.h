// SPDX-License-Identifier: Apache-2.0
// Deals the tasks of pieces of work: every thread has a share of them, and helps others when it is done with its own.
#pragma once

#include "runtime/device/cpu/EventCount.h"

#include <vector>

namespace talc {

// The threads pass the same pieces in the same order, and not at the same time: a thread whose share is done goes on to
// the next piece without the others. So nobody takes of a share before its owner has come to the piece, and what it
// depends on is there; and the owner leaves when all of its share is done, whichever thread did it.
class WorkStealing {
public:
  explicit WorkStealing(int32_t most) : shares(most), threads(most) {}

  // The next of a piece's tasks [0, tasks) that `thread` is to do; `tasks` when its share is done and there is nothing
  // that it could help with. A thread that asks again has done what it was given before.
  int64_t nextTask(int64_t thread, int64_t piece, int64_t tasks, Waiter &waiter);

  // Piece 0 is next, of so many threads. None may be claiming.
  void begin(int32_t count);

private:
  // The thread's part of a piece's tasks.
  struct Range {
    int64_t first, size;
  };

  // Of a thread. One word holds a piece, how many of its tasks are taken, and how many of these others are still doing.
  struct alignas(64) Share {
    bool take(uint64_t tag, int64_t size, uint64_t helpers, int64_t &task);
    int64_t takeAlone(uint64_t tag, int64_t tasks);

    std::atomic<uint64_t> word{0};
    EventCount returned;      // when others have done a task
    Share *helped = nullptr;  // whose task this thread was given last, if not its own
  };

  Range rangeOf(int64_t thread, int64_t tasks) const;
  static void finish(Share &own, Waiter &waiter);

  std::vector<Share> shares;
  int64_t threads;
};

}  // namespace talc
