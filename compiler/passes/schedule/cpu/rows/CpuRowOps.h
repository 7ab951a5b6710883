// SPDX-License-Identifier: Apache-2.0
// Row-wise ops whose loops differ from those of GPUs, or which these do not have.
#pragma once

#include "compiler/passes/schedule/rows/RowWiseOps.h"
#include "dialects/kernel/gradients/GradientOps.h"

namespace talc {

void expandKvAppend(Emitter &e, kernel::KvAppendOp op);
void expandCombine(Emitter &e, kernel::CombineOp op);
void expandSpread(Emitter &e, kernel::SpreadOp op);
void expandTokenLoss(Emitter &e, kernel::TokenLossOp op);
void expandLossDgrad(Emitter &e, kernel::LossDgradOp op);

inline constexpr RowWiseOp cpuRowOps[] = {
    rowWiseOp<kernel::KvAppendOp, expandKvAppend>(),   rowWiseOp<kernel::CombineOp, expandCombine>(),
    rowWiseOp<kernel::SpreadOp, expandSpread>(),       rowWiseOp<kernel::TokenLossOp, expandTokenLoss>(),
    rowWiseOp<kernel::LossDgradOp, expandLossDgrad>(),
};

// In either table; null: in neither.
inline const RowWiseOp *findCpuRowOp(mlir::Operation *op) {
  const RowWiseOp *shared = findRowWiseOp(rowWiseOps, op);
  return shared ? shared : findRowWiseOp(cpuRowOps, op);
}

}  // namespace talc
