// SPDX-License-Identifier: Apache-2.0
// embedding, position, select, slice.
#include "compiler/reference/RowOps.h"

#include "compiler/Error.h"

namespace talc::reference {

static void setRow(Matrix &matrix, int64_t at, const std::vector<double> &values) {
  std::copy(values.begin(), values.end(), matrix.values.begin() + at * matrix.columns);
}

llvm::Expected<Matrix> evaluate(EmbeddingOp, llvm::ArrayRef<int32_t> ids, const Weight &table) {
  Matrix result(ids.size(), table.shape[1]);
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= rowCount(table))
      return makeError(ErrorCode::Usage, "token id {} is not in the vocabulary of {} tokens", ids[t], rowCount(table));
    setRow(result, t, row(table, ids[t]));
  }
  return result;
}

llvm::Expected<Matrix> evaluate(PositionOp op, const StepSequences &step, const Weight &table) {
  Matrix result(step.rows(), table.shape[1]);
  int64_t offset = op.getOffset();
  for (int64_t t = 0; t < step.rows(); ++t) {
    if (step.positions[t] >= rowCount(table) - offset)
      return makeError(ErrorCode::Usage, "the sequence is too long: a table of {} positions has no row {} + {}",
                       rowCount(table), step.positions[t], offset);
    setRow(result, t, row(table, step.positions[t] + offset));
  }
  return result;
}

Matrix evaluate(SelectOp, const Matrix &x, const StepSequences &step) {
  Matrix result(step.outputs.size(), x.columns);
  for (int64_t r = 0; r < result.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      result.at(r, c) = x.at(step.outputs[r], c);
  return result;
}

Matrix evaluate(SliceOp op, const Matrix &x) {
  Matrix result(x.rows, mlir::cast<mlir::RankedTensorType>(op.getResult().getType()).getDimSize(1));
  for (int64_t r = 0; r < result.rows; ++r)
    for (int64_t c = 0; c < result.columns; ++c)
      result.at(r, c) = x.at(r, static_cast<int64_t>(op.getOffset()) + c);
  return result;
}

}  // namespace talc::reference
