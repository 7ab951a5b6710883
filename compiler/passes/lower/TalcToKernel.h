// SPDX-License-Identifier: Apache-2.0
// The parts of convert-talc-to-kernel: tensors of a step, elementwise arithmetic, mixtures of experts, the interface.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace talc {

// The running step, which is the first argument of every function.
mlir::Value getStepArgument(mlir::Operation *op);

// The number of rows of a tensor: the tokens of the step, or only wanted ones.
mlir::Value rowCount(mlir::OpBuilder &builder, mlir::Value value);

// An uninitialized tensor of the type, whose dynamic dimension is `rows`, or that of x.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value rows);
mlir::Value emptyLike(mlir::OpBuilder &builder, mlir::Value x, mlir::Type type);

// activation(x) for an f32 value; see talc.activation for the formulas.
mlir::Value activationBody(mlir::OpBuilder &builder, mlir::Location loc, ActivationKind kind, mlir::Value x);

// The value that `op` (talc.add, mul, scale, activation, or the gradient of one of them) computes from one element of
// each operand.
mlir::Value elementwiseBody(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op,
                            mlir::ValueRange operands);

// Adds patterns that lower mixtures of experts: talc.route and talc.experts.
void addExpertPatterns(mlir::RewritePatternSet &patterns);

// Adds patterns that lower the operations of backward functions. (GradientPatterns.cpp)
void addGradientPatterns(mlir::RewritePatternSet &patterns);

// Checks that the results agree with talc.outputs, and sets the attribute `talc.interface`, a dictionary:
//   kind               decoder, encoder or encoder_decoder, by the names of the entries
//   outputs            for each result its kind (talc.outputs) and width
//   vocabulary         exclusive bound of token ids of sequences
//   source_vocabulary  exclusive bound of token ids of sources (encoder-decoders)
//   token_types        exclusive bound of token types; 0: the model has none
//   uses_prefix        whether an attention has a prefix mask
mlir::LogicalResult describeInterface(mlir::ModuleOp module);

}  // namespace talc
