// SPDX-License-Identifier: Apache-2.0
// Ops that depend on positions and the borders between sequences, and lookups and selections. Operands have one row for
// each token of the step.
#pragma once

#include "compiler/reference/Sequences.h"
#include "compiler/reference/Tensors.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <utility>

namespace talc::reference {

// `table` may be null. Fails (Usage) if it is too short for a position.
llvm::Expected<Matrix> evaluate(RopeOp op, const Matrix &x, const StepSequences &step, const Weight *table);

void evaluate(KvAppendOp op, State &state, const Matrix &keys, const Matrix &values, const StepSequences &step);
// Fails (Internal) if a position was never appended; Usage if a sequence has no source.
llvm::Expected<std::pair<Matrix, Matrix>> evaluate(KvReadOp op, const State &state, const StepSequences &step);

// The results of all heads side by side; see talc.memory.
Matrix evaluate(MemoryOp op, const Matrix &local, const Matrix &queries, const Matrix &keys, const Matrix &values,
                State &state, const Weight &gates, const StepSequences &step);

// The kind of an attention's keys: those of the KV cache that it reads, or else the tokens of the step.
KeyKind keyKind(AttentionOp op);
// Keys and values have as many rows as the step has keys of that kind. Optional inputs are pointers.
struct AttentionInputs {
  const Matrix &queries, &keys, &values;
  const Matrix *sinkQueries, *rowBias;
  const Weight *bias, *sinks;
};
// Fails (Usage) if the bias has no value for a distance.
llvm::Expected<Matrix> evaluate(AttentionOp op, const AttentionInputs &in, const StepSequences &step);

//===--- lookups and selections (LookupOps.cpp) ------------------------------------------------------------------===//

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
