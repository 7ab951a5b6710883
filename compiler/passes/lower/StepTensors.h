// SPDX-License-Identifier: Apache-2.0
// The running step in functions of stage lower, and tensors with a row for each of its tokens.
#pragma once

#include "mlir/IR/Builders.h"

namespace talc {

// The step is the first argument of every function.
mlir::Value getStepArgument(mlir::Operation *op);

// The number of rows of a value: the tokens of the step, or only wanted ones.
mlir::Value rowCount(mlir::OpBuilder &builder, mlir::Value value);

// An uninitialized tensor of the type, whose dynamic dimension is `rows`, or that of x.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value rows);
mlir::Value emptyLike(mlir::OpBuilder &builder, mlir::Value x, mlir::Type type);

}  // namespace talc
