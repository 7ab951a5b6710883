// SPDX-License-Identifier: Apache-2.0
// Contractions of a single row that leave the sums of parts of k for somebody who adds them.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

// On a kernel.matmul, a number D: x has one row, K is a multiple of D, and row d of init [D, N] receives the sums
// over the d-th part of k. It has no inputs, gates or groups.
constexpr llvm::StringLiteral splitKAttr = "kernel.split_k";

// 0: sums are those of all of k.
inline int64_t getSplitK(MatmulOp op) {
  auto parts = op->getAttrOfType<mlir::IntegerAttr>(splitKAttr);
  return parts ? parts.getInt() : 0;
}

}  // namespace talc::kernel
