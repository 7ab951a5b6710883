// SPDX-License-Identifier: Apache-2.0
// Matmuls by the tile instructions of AMX: of bf16 by bf16, and of quantized activations by a weight's quant blocks.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// Why AMX cannot multiply the op's operands as bf16; empty: it can.
std::string whyNotAmxBf16(kernel::MatmulOp op, const IsaTraits &traits);

// Replaces the body of the tasks by loops; the op is left to be erased.
void expandAmxBf16(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op);

// A parameter of the plans of matmuls whose many rows AMX multiplies. matmul-to-amx adds it; no override can.
inline constexpr llvm::StringLiteral useAmxParameter = "use_amx";

// Whether AMX can multiply quantized activations by a weight's quant blocks.
bool canUseAmxInt8(const MatmulShape &shape, const IsaTraits &traits);

// Multiplies many rows of quantized activations by a weight's quant blocks.
class AmxInt8 {
public:
  // Allocates its stack where the emitter stands: before the tasks.
  explicit AmxInt8(const MatmulContext &c);

  // Whether a task has as many rows as fill a tile register, and not more than sums have room for.
  mlir::Value takesRows(mlir::Value rows) const;
  // Multiplies rows [first, + rows) by panels [begin, end).
  void multiply(mlir::Value first, mlir::Value rows, mlir::Value begin, mlir::Value end) const;

  struct Stack {
    mlir::Value sums, codes, scales, offsets, products;
  };

private:
  const MatmulContext &c;
  const int64_t maxRows;
  Stack stack;
};

}  // namespace talc
