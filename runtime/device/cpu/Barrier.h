// SPDX-License-Identifier: Apache-2.0
// A barrier for a fixed number of threads, used over and over.
#pragma once

#include "runtime/device/cpu/Signal.h"

namespace talc {

class Barrier {
public:
  // `looks`: see Signal::await.
  Barrier(int32_t threads, int32_t looks) : threads(threads), looks(looks) {}

  // Returns when all threads have called it. What each wrote before is visible to all after.
  void wait() {
    uint32_t phase = opened.now();  // cannot advance before this thread has arrived
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < threads)
      return opened.await(phase, looks);
    arrived.store(0, std::memory_order_relaxed);
    opened.advance();
  }

private:
  const int32_t threads;
  const int32_t looks;
  alignas(64) std::atomic<int32_t> arrived{0};  // apart: those who wait read `opened` while others still arrive
  alignas(64) Signal opened;
};

}  // namespace talc
