// SPDX-License-Identifier: Apache-2.0
// Many rows of integers times a weight's blocks, by the matrix registers of AMX.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// On contractions whose many rows the processor's registers multiply: matmul-to-amx says so.
inline constexpr llvm::StringLiteral useAmxAttr = "kernel.use_amx";

// Whether they can.
bool takesIntegers(const MatmulShape &shape, int64_t lanes);

class AmxInt8 {
public:
  // Takes its stack where the emitter stands: in front of the tasks.
  explicit AmxInt8(const MatmulContext &c);

  // Whether a task has as many rows as fill a register, and no more than sums have room for.
  mlir::Value take(mlir::Value rows) const;
  // So many rows, from the first one on, by panels [begin, end).
  void multiply(mlir::Value first, mlir::Value rows, mlir::Value begin, mlir::Value end) const;

  struct Stack {
    mlir::Value sums, levels, steps, offsets, products;
  };

private:
  const MatmulContext &c;
  const int64_t mostRows;
  Stack stack;
};

}  // namespace talc
