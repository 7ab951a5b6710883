// SPDX-License-Identifier: Apache-2.0
// Operations of backward functions whose definitions share code with those of forward functions.
#pragma once

#include "compiler/reference/Evaluation.h"
#include "dialects/talc/gradients/Differentiable.h"

namespace talc::reference {

// The transpose of the rotation of talc.rope. `table` may be null. (AttentionGradient.cpp)
Matrix evaluate(RopeDgradOp op, const Matrix &gradient, const StepSequences &step, const Weight *table);

// The derivative of an activation function; that of relu at 0 is 0. (ExpertGradients.cpp)
double derivative(ActivationKind kind, double x);
Matrix evaluate(RouteDgradOp op, const Matrix &gradient, const Matrix &x, const Matrix &y);
// Evaluates experts_dgrad and experts_wgrad; false for other operations.
bool evaluateExpertsGradient(mlir::Operation *op, Frame &frame);

// Sets all three results. (AttentionGradient.cpp)
void evaluateAttentionDgrad(AttentionDgradOp op, Frame &frame, const StepSequences &step);

// The position of every token among those of its sequence that are not padding; -1 for padding. (LookupOps.cpp)
std::vector<int64_t> countPositions(std::optional<int64_t> padding, llvm::ArrayRef<int32_t> ids,
                                    const StepSequences &step);

}  // namespace talc::reference
