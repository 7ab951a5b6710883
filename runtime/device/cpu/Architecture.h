// SPDX-License-Identifier: Apache-2.0
// What differs between architectures of processors besides the features that code needs (Cpu.h). Each has one file with
// all of it: X86Cpu.cpp, ...
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc {

// Of shared objects of code: ELF's number of the architecture, and its relocation that adds the load address.
extern const uint16_t elfMachine;
extern const uint32_t relativeRelocation;

// A clock that costs a few nanoseconds, in units of its own: for shares of a time that another clock has measured.
uint64_t ticks();

// A pause within a loop that waits, of 10 to 50 ns.
void spinOnce();

// What talcSwitchStack finds on a new stack: so many words, the last ones of the stack. Which of them are a function,
// which must not return, and its argument, and which one is where to go on: at `start`, which makes the call.
struct FirstFrame {
  size_t words, function, argument, returnAddress;
  void (*start)();
};
extern const FirstFrame firstFrame;

}  // namespace talc

// Leaves the registers that calls preserve on the stack and its pointer at `*from`, and goes on where another call left
// `to`.
extern "C" void talcSwitchStack(void **from, void *to);
