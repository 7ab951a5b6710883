// SPDX-License-Identifier: Apache-2.0
// A counter that threads wait on until it changes: by spinning for a short time, then by sleeping in the kernel.
#pragma once

#include <atomic>
#include <cstdint>

namespace talc {

// How one thread waits, and for how long. When spinning was in vain, the CPU had better go to another thread, perhaps
// the one that is waited for: then the thread spins half as long the next time, and longer again once spinning
// suffices.
struct Waiter {
  // `maxSpins`: how often the thread spins before it sleeps, with pauses of 10 to 50 ns.
  explicit Waiter(int32_t maxSpins = 0, bool learns = true) : maxSpins(maxSpins), spins(maxSpins), learns(learns) {}

  int32_t maxSpins, spins;
  bool learns;
  uint64_t waited = 0;  // ticks
};

class EventCount {
public:
  uint32_t now() const { return value.load(std::memory_order_acquire); }
  // Wakes all waiting threads. What was written before is visible to them.
  void advance();
  // Whether now() differs from `old`, or does after a while of spinning.
  bool changesWithin(uint32_t old, int32_t spins) const { return spin(old, spins); }
  // Returns once now() differs from `old`.
  void await(uint32_t old, Waiter &waiter) {
    if (now() == old)
      wait(old, waiter);
  }

private:
  void wait(uint32_t old, Waiter &waiter);
  bool spin(uint32_t old, int32_t spins) const;
  void sleep(uint32_t old);

  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

}  // namespace talc
