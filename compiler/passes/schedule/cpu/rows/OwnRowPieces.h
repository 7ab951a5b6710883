// SPDX-License-Identifier: Apache-2.0
// The row pieces whose loops are a processor's own.
#pragma once

#include "compiler/passes/schedule/rows/RowPieces.h"

namespace talc {

void expandAppend(Emitter &e, kernel::AppendOp op);
void expandCombine(Emitter &e, kernel::CombineOp op);

inline constexpr RowPiece ownRowPieces[] = {
    rowPiece<kernel::AppendOp, expandAppend>(),
    rowPiece<kernel::CombineOp, expandCombine>(),
};

// In either table; null: in none.
inline const RowPiece *findRowPiece(mlir::Operation *op) {
  const RowPiece *shared = findPiece(rowPieces, op);
  return shared ? shared : findPiece(ownRowPieces, op);
}

}  // namespace talc
