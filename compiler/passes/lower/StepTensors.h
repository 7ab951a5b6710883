// SPDX-License-Identifier: Apache-2.0
// The step in functions of stage lower, and tensors that have as many rows as it.
#pragma once

#include "mlir/IR/Builders.h"

namespace talc {

// The step is the first argument of every function.
mlir::Value stepOf(mlir::Operation *op);

// The number of rows of a value: that of the step, unless it was made for the wanted rows only.
mlir::Value rowCount(mlir::OpBuilder &builder, mlir::Value value);

// An uninitialized tensor of the type, with `rows` in its dynamic dimension, or as many as x has.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value rows);
mlir::Value emptyLike(mlir::OpBuilder &builder, mlir::Value x, mlir::Type type);

}  // namespace talc
