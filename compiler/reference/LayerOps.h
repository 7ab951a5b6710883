// SPDX-License-Identifier: Apache-2.0
// Ops that treat every row by itself.
#pragma once

#include "compiler/reference/Tensors.h"
#include "dialects/talc/TalcDialect.h"

namespace talc::reference {

// `bias` may be null.
Matrix evaluate(LinearOp op, const Matrix &x, const Weight &weight, const Weight *bias);
// `up` is null if `weight` is packed.
Matrix evaluate(GatedLinearOp op, const Matrix &x, const Weight &weight, const Weight *up);
Matrix evaluate(NormOp op, const Matrix &x, const Weight &scale, const Weight *bias);
Matrix evaluate(ActivationOp op, const Matrix &x);
Matrix evaluate(SoftmaxOp op, const Matrix &x);
Matrix evaluate(ScaleOp op, const Matrix &x);
// The operands have as many rows.
Matrix evaluate(AddOp op, const Matrix &lhs, const Matrix &rhs);
Matrix evaluate(MulOp op, const Matrix &lhs, const Matrix &rhs);

}  // namespace talc::reference
