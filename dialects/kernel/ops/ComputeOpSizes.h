// SPDX-License-Identifier: Apache-2.0
// Sizes and bytes of what pieces work on: rows of activations, weights, states.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

inline mlir::ShapedType shapeOf(mlir::Value data) {
  return mlir::cast<mlir::ShapedType>(data.getType());
}
inline int64_t size(mlir::Value data, int64_t dimension) {
  return shapeOf(data).getDimSize(dimension);
}
// Of so many neighbours; what is no value of a storage format counts nothing.
inline int64_t byteSize(mlir::Value data, int64_t values) {
  const StorageFormat *format = getStorageFormat(shapeOf(data).getElementType());
  return format ? format->byteSize(values) : 0;
}
// Of activations [rows, features].
inline int64_t features(mlir::Value activations) {
  return size(activations, 1);
}
inline bool hasOneRow(mlir::Value activations) {
  return size(activations, 0) == 1;
}

inline llvm::StringRef formatName(mlir::Value data) {
  return elementFormat(shapeOf(data)).name;
}
// Of a row of activations, or of a table's values for a token.
inline int64_t rowBytes(mlir::Value data) {
  return byteSize(data, features(data));
}
inline int64_t weightBytes(mlir::Value weight) {
  return byteSize(weight, shapeOf(weight).getNumElements());
}

// Of a piece that reads the rows of x and writes those of init, with so many operations for an element of x.
inline OpCosts costsOfRows(mlir::Value x, mlir::Value init, int64_t operations) {
  OpCosts costs;
  costs.operations.perRow = operations * features(x);
  costs.passed.perRow = rowBytes(x) + rowBytes(init);
  return costs;
}

// Adds what is read of an operand of an epilogue: a row of activations, or a vector that serves every row.
inline void addInput(OpCosts &costs, mlir::Value input) {
  if (shapeOf(input).getRank() == 1)
    costs.stored.perCall += weightBytes(input);
  else
    costs.passed.perRow += rowBytes(input);
}

}  // namespace talc::kernel
