// SPDX-License-Identifier: Apache-2.0
// Ops that pick rows or features.
#pragma once

#include "compiler/reference/Sequences.h"
#include "compiler/reference/Tensors.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace talc::reference {

// All fail (Usage) for a row that the table does not have.
llvm::Expected<Matrix> evaluate(EmbeddingOp op, llvm::ArrayRef<int32_t> ids, const Weight &table);
llvm::Expected<Matrix> evaluate(PositionOp op, llvm::ArrayRef<int32_t> ids, const StepSequences &step,
                                const Weight &table);
llvm::Expected<Matrix> evaluate(TokenTypeOp op, const StepSequences &step, const Weight &table);

// The rows of x, of which there is one for each row of the step.
Matrix pick(const Matrix &x, const std::vector<int64_t> &rows);
// Fails (Program) for a result that the model does not have.
llvm::Expected<Matrix> evaluate(SelectOp op, const Matrix &x, const StepSequences &step);
Matrix evaluate(SliceOp op, const Matrix &x);

}  // namespace talc::reference
