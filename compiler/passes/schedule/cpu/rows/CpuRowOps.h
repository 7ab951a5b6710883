// SPDX-License-Identifier: Apache-2.0
// Row-wise ops whose loops differ from those of GPUs.
#pragma once

#include "compiler/passes/schedule/rows/RowWiseOps.h"

namespace talc {

void expandKvAppend(Emitter &e, kernel::KvAppendOp op);
void expandCombine(Emitter &e, kernel::CombineOp op);

inline constexpr RowWiseOp cpuRowOps[] = {
    rowWiseOp<kernel::KvAppendOp, expandKvAppend>(),
    rowWiseOp<kernel::CombineOp, expandCombine>(),
};

// In either table; null: in neither.
inline const RowWiseOp *findCpuRowOp(mlir::Operation *op) {
  const RowWiseOp *shared = findRowWiseOp(rowWiseOps, op);
  return shared ? shared : findRowWiseOp(cpuRowOps, op);
}

}  // namespace talc
