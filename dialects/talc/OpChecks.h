// SPDX-License-Identifier: Apache-2.0
// Sizes, for verifiers of the dialect.
#pragma once

#include "dialects/talc/TalcDialect.h"

namespace talc {

inline int64_t rows(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(0);
}
inline int64_t features(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(1);
}
inline int64_t length(mlir::Value vector) {
  return mlir::cast<mlir::RankedTensorType>(vector.getType()).getDimSize(0);
}

// Reports "<what> is <actual>, expected <expected>" if they differ.
inline mlir::LogicalResult expect(mlir::Operation *op, llvm::StringRef what, int64_t actual, int64_t expected) {
  if (actual == expected)
    return mlir::success();
  return op->emitOpError() << what << " is " << actual << ", expected " << expected;
}

// The depth K of a matrix [N, K] or of panels [ceil(N/lanes), K, lanes]; -1 for other ranks.
inline int64_t depth(mlir::Value weight) {
  auto type = mlir::cast<mlir::RankedTensorType>(weight.getType());
  return type.getRank() == 2 || type.getRank() == 3 ? type.getDimSize(1) : -1;
}

}  // namespace talc
