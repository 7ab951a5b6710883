// SPDX-License-Identifier: Apache-2.0
// Sizes and bytes of the operands of compute ops: activations, weights, KV caches.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

inline mlir::ShapedType getShapedType(mlir::Value data) {
  return mlir::cast<mlir::ShapedType>(data.getType());
}
inline int64_t size(mlir::Value data, int64_t dimension) {
  return getShapedType(data).getDimSize(dimension);
}
// The bytes of `values` neighbors in a row; 0 if they do not have a storage format.
inline int64_t byteSize(mlir::Value data, int64_t values) {
  const StorageFormat *format = getStorageFormat(getShapedType(data).getElementType());
  return format ? format->byteSize(values) : 0;
}
// The features of activations [tokens, features].
inline int64_t features(mlir::Value activations) {
  return size(activations, 1);
}
inline bool hasOneRow(mlir::Value activations) {
  return size(activations, 0) == 1;
}

inline llvm::StringRef formatName(mlir::Value data) {
  return elementFormat(getShapedType(data)).name;
}
// The bytes of a row of activations or of a table.
inline int64_t rowBytes(mlir::Value data) {
  return byteSize(data, features(data));
}
inline int64_t weightBytes(mlir::Value weight) {
  return byteSize(weight, getShapedType(weight).getNumElements());
}

// The costs of a row-wise op that reads x and writes init, with `operations` for every element of x.
inline OpCosts rowWiseCosts(mlir::Value x, mlir::Value init, int64_t operations) {
  OpCosts costs;
  costs.operations.perRow = operations * features(x);
  costs.passed.perRow = rowBytes(x) + rowBytes(init);
  return costs;
}

// Adds the bytes of an operand of an epilogue: activations, or a vector that all rows share.
inline void addInput(OpCosts &costs, mlir::Value input) {
  if (getShapedType(input).getRank() == 1)
    costs.stored.perCall += weightBytes(input);
  else
    costs.passed.perRow += rowBytes(input);
}

}  // namespace talc::kernel
