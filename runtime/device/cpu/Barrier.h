// SPDX-License-Identifier: Apache-2.0
// A barrier for a number of threads, used over and over.
#pragma once

#include "runtime/device/cpu/Signal.h"

namespace talc {

class Barrier {
public:
  explicit Barrier(int32_t threads) : threads(threads) {}

  // From now on so many threads meet. None may be inside.
  void expect(int32_t count) { threads = count; }

  // Returns when all threads have called it. What each wrote before is visible to all after.
  void wait(Waiter &waiter) {
    uint32_t phase = opened.now();    // cannot advance before this thread has arrived
    const int32_t awaited = threads;  // may change once all have
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < awaited)
      return opened.await(phase, waiter);
    arrived.store(0, std::memory_order_relaxed);
    opened.advance();
  }

private:
  int32_t threads;
  alignas(64) std::atomic<int32_t> arrived{0};  // apart: those who wait read `opened` while others still arrive
  alignas(64) Signal opened;
};

}  // namespace talc
