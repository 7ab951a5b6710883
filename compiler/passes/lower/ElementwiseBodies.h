// SPDX-License-Identifier: Apache-2.0
// The scalar arithmetic of the elementwise talc ops, as arith and math ops.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"

namespace talc {

// activation(x) for an f32 value; see talc.activation for the formulas.
mlir::Value activationBody(mlir::OpBuilder &builder, mlir::Location loc, ActivationKind kind, mlir::Value x);

// The value that `op` (talc.add, mul, scale or activation) computes from one element of each operand.
mlir::Value elementwiseBody(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op,
                            mlir::ValueRange operands);

}  // namespace talc
