// SPDX-License-Identifier: Apache-2.0
// Many rows of quantized activations times a weight's quant blocks, by the tile instructions of AMX.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// A parameter of the plans of matmuls whose many rows AMX multiplies. matmul-to-amx adds it; no override can.
inline constexpr llvm::StringLiteral useAmxParameter = "use_amx";

// Whether AMX can multiply them.
bool canUseAmxInt8(const MatmulShape &shape, const IsaTraits &traits);

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
