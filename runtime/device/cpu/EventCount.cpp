// SPDX-License-Identifier: Apache-2.0
// Spins, then calls futex. There is nothing in between: sched_yield puts the thread behind all others of its core,
// which costs a whole time slice where other processes compute, while a thread that a futex wakes runs soon.
#include "runtime/device/cpu/EventCount.h"

#include "runtime/device/cpu/Architecture.h"

#include <algorithm>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace talc {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain 32-bit word");

static void futex(std::atomic<uint32_t> &word, int operation, uint32_t argument) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, argument, nullptr, nullptr, 0);
}

// Either this thread sees the sleeper, or the sleeper's futex call sees the new value: both orders are sequentially
// consistent.
void EventCount::advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    futex(value, FUTEX_WAKE_PRIVATE, INT_MAX);
}

void EventCount::wait(uint32_t old, Waiter &waiter) {
  uint64_t begin = ticks();
  bool sufficed = spin(old, waiter.spins);
  if (!sufficed)
    sleep(old);
  waiter.waited += ticks() - begin;
  if (waiter.learns)
    waiter.spins = sufficed ? std::min(waiter.spins + waiter.spins / 8, waiter.maxSpins)
                            : std::max(waiter.spins / 2, waiter.maxSpins / 16);
}

// Whether the value has changed meanwhile.
bool EventCount::spin(uint32_t old, int32_t spins) const {
  for (int32_t i = 0; i < spins; ++i) {
    if (now() != old)
      return true;
    spinOnce();
  }
  return false;
}

void EventCount::sleep(uint32_t old) {
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (value.load(std::memory_order_seq_cst) == old)
    futex(value, FUTEX_WAIT_PRIVATE, old);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace talc
