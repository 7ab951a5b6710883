// SPDX-License-Identifier: Apache-2.0
// Ops that look up rows of tables, or select tokens or features.
#pragma once

#include "compiler/reference/Sequences.h"
#include "compiler/reference/Tensors.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace talc::reference {

// All fail (Usage) for an index outside of the table.
llvm::Expected<Matrix> evaluate(EmbeddingOp op, llvm::ArrayRef<int32_t> ids, const Weight &table);
llvm::Expected<Matrix> evaluate(PositionOp op, llvm::ArrayRef<int32_t> ids, const StepSequences &step,
                                const Weight &table);
llvm::Expected<Matrix> evaluate(TokenTypeOp op, const StepSequences &step, const Weight &table);

// The given rows of x.
Matrix pick(const Matrix &x, const std::vector<int64_t> &rows);
// Fails (Program) for the index of a result that the model does not have.
llvm::Expected<Matrix> evaluate(SelectOp op, const Matrix &x, const StepSequences &step);
Matrix evaluate(SliceOp op, const Matrix &x);

}  // namespace talc::reference
