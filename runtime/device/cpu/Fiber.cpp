// SPDX-License-Identifier: Apache-2.0
// Registers that a call preserves go to the stack, and the stack pointer changes: POSIX's swapcontext does the same
// with two system calls more, for signal masks that are equal here.
//
//   a stack, from its end:   enter's frame ... | function's frames ... | registers of a paused fiber   <- own
#include "runtime/device/cpu/Fiber.h"

#include "runtime/device/cpu/Architecture.h"

#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TALC_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace talc {

static constexpr size_t guardBytes = 64 << 10;  // a multiple of every size of pages

Fiber::~Fiber() {
#ifdef TALC_THREAD_SANITIZER
  if (sanitizerFiber)
    __tsan_destroy_fiber(sanitizerFiber);
#endif
  if (stack)
    munmap(stack, guardBytes + stackBytes);
}

bool Fiber::create() {
  void *memory = mmap(nullptr, guardBytes + stackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  stack = static_cast<unsigned char *>(memory);
  if (mprotect(stack, guardBytes, PROT_NONE) != 0)
    return false;
  auto *first = reinterpret_cast<uintptr_t *>(stack + guardBytes + stackBytes) - firstFrame.words;
  first[firstFrame.function] = reinterpret_cast<uintptr_t>(enter);
  first[firstFrame.argument] = reinterpret_cast<uintptr_t>(this);
  first[firstFrame.returnAddress] = reinterpret_cast<uintptr_t>(firstFrame.start);
  own = first;
#ifdef TALC_THREAD_SANITIZER
  sanitizerFiber = __tsan_create_fiber(0);
#endif
  return true;
}

void Fiber::begin(Function newFunction, void *newArgument) {
  function = newFunction;
  argument = newArgument;
  ended = false;
}

void Fiber::enter(void *fiber) {
  auto &self = *static_cast<Fiber *>(fiber);
  for (;;) {
    self.function(self.argument);
    self.ended = true;
    self.pause();
  }
}

void Fiber::resume() {
#ifdef TALC_THREAD_SANITIZER
  sanitizerCaller = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizerFiber, 0);
#endif
  talcSwitchStack(&caller, own);
}

void Fiber::pause() {
#ifdef TALC_THREAD_SANITIZER
  __tsan_switch_to_fiber(sanitizerCaller, 0);
#endif
  talcSwitchStack(&own, caller);
}

}  // namespace talc
