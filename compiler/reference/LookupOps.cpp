// SPDX-License-Identifier: Apache-2.0
// embedding, position, token_type, select, slice.
#include "compiler/reference/AttentionOps.h"

#include "compiler/Error.h"
#include "compiler/reference/GradientOps.h"

namespace talc::reference {

static void setRow(Matrix &matrix, int64_t at, const std::vector<double> &values) {
  std::copy(values.begin(), values.end(), matrix.values.begin() + at * matrix.columns);
}

llvm::Expected<Matrix> evaluate(EmbeddingOp op, llvm::ArrayRef<int32_t> ids, const Weight &table) {
  Matrix result(ids.size(), table.shape[1]);
  auto first = static_cast<int64_t>(op.getFirst().value_or(0));
  for (size_t t = 0; t < ids.size(); ++t) {
    bool isInTable = ids[t] >= first && ids[t] - first < rowCount(table);
    if (!isInTable && !op.getFirst())
      return makeError(ErrorCode::Usage, "token id {} is not in the vocabulary of {} tokens", ids[t], rowCount(table));
    if (isInTable)
      setRow(result, t, row(table, ids[t] - first));
  }
  return result;
}

std::vector<int64_t> countPositions(std::optional<int64_t> padding, llvm::ArrayRef<int32_t> ids,
                                    const StepSequences &step) {
  if (!padding)
    return step.positions;
  std::vector<int64_t> result(step.rows());
  for (const SequenceTokens &sequence : step.sequences) {
    int64_t next = 0;
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t)
      result[t] = ids[t] == *padding ? -1 : next++;
  }
  return result;
}

llvm::Expected<Matrix> evaluate(PositionOp op, llvm::ArrayRef<int32_t> ids, const StepSequences &step,
                                const Weight &table) {
  Matrix result(step.rows(), table.shape[1]);
  int64_t offset = op.getOffset();
  std::vector<int64_t> positions = countPositions(op.getPadding(), ids, step);
  for (int64_t t = 0; t < step.rows(); ++t) {
    if (positions[t] >= rowCount(table) - offset)
      return makeError(ErrorCode::Usage, "the sequence is too long: a table of {} positions has no row {} + {}",
                       rowCount(table), positions[t], offset);
    setRow(result, t, row(table, positions[t] + offset));
  }
  return result;
}

llvm::Expected<Matrix> evaluate(TokenTypeOp, const StepSequences &step, const Weight &table) {
  Matrix result(step.rows(), table.shape[1]);
  for (int64_t t = 0; t < step.rows(); ++t) {
    if (step.types[t] < 0 || step.types[t] >= rowCount(table))
      return makeError(ErrorCode::Usage, "token type {} is not one of the table's {}", step.types[t], rowCount(table));
    setRow(result, t, row(table, step.types[t]));
  }
  return result;
}

Matrix pick(const Matrix &x, const std::vector<int64_t> &rows) {
  Matrix result(rows.size(), x.columns);
  for (int64_t r = 0; r < result.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      result.at(r, c) = x.at(rows[r], c);
  return result;
}

llvm::Expected<Matrix> evaluate(SelectOp op, const Matrix &x, const StepSequences &step) {
  if (op.getOutput() >= step.outputs.size())
    return makeError(ErrorCode::Program, "'talc.select' is for result {} of a model of {}", op.getOutput(),
                     step.outputs.size());
  return pick(x, step.outputs[op.getOutput()]);
}

Matrix evaluate(SliceOp op, const Matrix &x) {
  Matrix result(x.rows, mlir::cast<mlir::RankedTensorType>(op.getResult().getType()).getDimSize(1));
  for (int64_t r = 0; r < result.rows; ++r)
    for (int64_t c = 0; c < result.columns; ++c)
      result.at(r, c) = x.at(r, static_cast<int64_t>(op.getOffset()) + c);
  return result;
}

}  // namespace talc::reference
