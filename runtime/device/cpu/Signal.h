// SPDX-License-Identifier: Apache-2.0
// A counter that threads wait on until it changes: by spinning for a short time, then by sleeping in the kernel.
#pragma once

#include <atomic>
#include <cstdint>

namespace talc {

class Signal {
public:
  uint32_t now() const { return value.load(std::memory_order_acquire); }
  // Wakes all who wait. What was written before is visible to them.
  void advance();
  // Returns once now() differs from `old`. Spins that often, with pauses of 10 to 50 ns, before it sleeps.
  void await(uint32_t old, int32_t looks);

private:
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

}  // namespace talc
