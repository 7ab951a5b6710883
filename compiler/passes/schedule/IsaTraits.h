// SPDX-License-Identifier: Apache-2.0
// Traits of an instruction set, which passes ask for where code differs. Targets fill them in, and a module carries
// them as #kernel.isa.
#pragma once

#include <cstdint>

namespace talc {

struct IsaTraits {
  int64_t lanes = 0;      // f32 lanes of a vector register
  int64_t registers = 0;  // vector registers

  // A multiply-add takes its scalar from a lane of a register.
  bool fmaFromLane = false;
  // Instructions read an operand from memory, so that constants need no register.
  bool memoryOperands = false;
  // Dot products of bytes take codes with a sign.
  bool signedDots = false;
  // A dot product of bytes adds to its accumulator. Without this, pairs of products are summed after the last of them.
  bool dotsAccumulate = false;
  // Pairs of bf16 can be multiplied and added to f32.
  bool bf16Pairs = false;
  // One instruction converts a vector of bf16 to f32.
  bool convertsBf16 = false;
  // One instruction multiplies by powers of two.
  bool scalesByPowers = false;
  // One instruction does two bitwise operations.
  bool ternaryLogic = false;
  // There are tile registers of 16 x 16 words, and a vector is a row of one.
  bool tileRegisters = false;

  // The registers hold 2 KiB: 24 accumulators of a cache line each, and what is loaded beside them.
  bool hasLargeRegisterFile() const { return registers * lanes * 4 >= 2048; }
  // The accumulators of a full tile leave hardly a register free.
  bool hasFewRegisters() const { return registers <= 16; }
};

}  // namespace talc
