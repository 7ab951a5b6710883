// SPDX-License-Identifier: Apache-2.0
// Registers that a call preserves go to the stack, and the stack pointer changes: POSIX's swapcontext does the same
// with two system calls more, for signal masks that are equal here.
//
//   a stack, from its end:   enter's frame ... | function's frames ... | registers of a paused fiber   <- own
#include "runtime/device/cpu/Fiber.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TALC_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#endif

// Leaves the registers on the stack and its pointer at `*from`, and goes on where another call left `to`.
extern "C" void talcSwitchStack(void **from, void *to);
// Where a new stack goes on: calls a function with an argument, both in preserved registers.
extern "C" void talcStartStack();

#if defined(__x86_64__)
// Source: System V ABI for x86-64: rbx, rbp and r12 to r15 are preserved.
asm(R"(
.text
.hidden talcSwitchStack
.globl talcSwitchStack
.type talcSwitchStack, @function
talcSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size talcSwitchStack, .-talcSwitchStack
.hidden talcStartStack
.globl talcStartStack
.type talcStartStack, @function
talcStartStack:
  movq %rbx, %rdi
  callq *%r12
  ud2
.size talcStartStack, .-talcStartStack
)");

// r15, r14, r13, r12, rbx, rbp, return address; the pointer is a multiple of 16 once they are popped.
static constexpr size_t words = 8, functionWord = 3, argumentWord = 4, returnWord = 6;
#elif defined(__aarch64__)
// Source: Procedure Call Standard for the Arm 64-bit Architecture: x19 to x29 and d8 to d15 are preserved.
asm(R"(
.text
.hidden talcSwitchStack
.globl talcSwitchStack
.type talcSwitchStack, %function
talcSwitchStack:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size talcSwitchStack, .-talcSwitchStack
.hidden talcStartStack
.globl talcStartStack
.type talcStartStack, %function
talcStartStack:
  mov x0, x20
  blr x19
  brk #1
.size talcStartStack, .-talcStartStack
)");

static constexpr size_t words = 20, functionWord = 0, argumentWord = 1, returnWord = 11;
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
  uintptr_t first[words] = {};
  first[functionWord] = reinterpret_cast<uintptr_t>(enter);
  first[argumentWord] = reinterpret_cast<uintptr_t>(this);
  first[returnWord] = reinterpret_cast<uintptr_t>(talcStartStack);
  own = stack + guardBytes + stackBytes - sizeof(first);
  memcpy(own, first, sizeof(first));
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
