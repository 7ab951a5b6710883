// SPDX-License-Identifier: Apache-2.0
// Spin, yield, then futex.
#include "runtime/parallel/Signal.h"

#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace talc {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain 32-bit word");

static void futex(std::atomic<uint32_t> &word, int operation, uint32_t argument) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, argument, nullptr, nullptr, 0);
}

static void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Either this thread sees the sleeper, or the sleeper's futex call sees the new value: both orders are sequentially
// consistent.
void Signal::advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    futex(value, FUTEX_WAKE_PRIVATE, INT_MAX);
}

void Signal::await(uint32_t old, Patience patience) {
  for (int32_t i = 0; i < patience.looks; ++i) {
    if (now() != old)
      return;
    pauseBriefly();
  }
  for (int32_t i = 0; i < patience.yields; ++i) {
    if (now() != old)
      return;
    sched_yield();
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (value.load(std::memory_order_seq_cst) == old)
    futex(value, FUTEX_WAIT_PRIVATE, old);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace talc
