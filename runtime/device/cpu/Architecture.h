// SPDX-License-Identifier: Apache-2.0
// Functions that differ between architectures of CPUs, besides features (Cpu.h). Each architecture has one file with
// all of them: X86Cpu.cpp, ...
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc {

// For shared objects with code: ELF's number of the architecture, and its relocation that adds the load address.
extern const uint16_t elfMachine;
extern const uint32_t relativeRelocation;

// A clock that costs a few nanoseconds, in units of its own: for shares of a time that another clock has measured.
uint64_t ticks();

// Pauses for 10 to 50 ns in a loop that waits.
void spinOnce();

// The words at the end of a new stack for talcSwitchStack: the index of a function, which must not return, of its
// argument, and of the return address, which is `start`; that makes the call.
struct FirstFrame {
  size_t words, function, argument, returnAddress;
  void (*start)();
};
extern const FirstFrame firstFrame;

}  // namespace talc

// Pushes the preserved registers, stores the stack pointer in `*from`, and resumes where another call stored `to`.
extern "C" void talcSwitchStack(void **from, void *to);
