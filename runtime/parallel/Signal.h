// SPDX-License-Identifier: Apache-2.0
// A counter that threads wait on until it changes: by looking for a short time, then by sleeping in the kernel.
#pragma once

#include <atomic>
#include <cstdint>

namespace talc {

// How long a waiting thread keeps its core before it sleeps.
struct Patience {
  int32_t looks;   // pauses of some 10 to 50 ns each
  int32_t yields;  // after that; gives the core away, but stays runnable
};

class Signal {
public:
  uint32_t now() const { return value.load(std::memory_order_acquire); }
  // Wakes all who wait. What was written before is visible to them.
  void advance();
  // Returns once now() differs from `old`.
  void await(uint32_t old, Patience patience);

private:
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

}  // namespace talc
