// SPDX-License-Identifier: Apache-2.0
// Ops that see earlier tokens through a state, one token after the other.
#include "dialects/talc/RecurrenceOps.h"

#include "compiler/reference/Evaluation.h"

#include <cmath>

namespace talc::reference {

// The state of a sequence: zero before its first token.
static std::vector<HeadMemory> &openState(State &state, KvCacheType type, const SequenceTokens &sequence) {
  std::vector<HeadMemory> &heads = state[sequence.slot].past;
  if (sequence.firstPosition == 0)
    heads.assign(type.getHeads(), HeadMemory(type.getCapacity(), std::vector<double>(type.getWidth())));
  return heads;
}

static Matrix evaluate(CausalConvOp op, const Matrix &x, const Weight &weight, const Weight *bias, State &state,
                       const StepSequences &step) {
  Matrix result(x.rows, x.columns);
  int64_t taps = weight.shape[0];
  for (const SequenceTokens &sequence : step.sequences) {
    HeadMemory &rows = openState(state, mlir::cast<KvCacheType>(op.getState().getType()), sequence).front();
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t) {
      rows.emplace_back();
      for (int64_t c = 0; c < x.columns; ++c) {
        rows.back().push_back(x.at(t, c));
        double sum = bias ? bias->values[c] : 0;
        for (int64_t j = 0; j < taps; ++j)
          sum += weight.values[j * x.columns + c] * rows[j][c];
        result.at(t, c) = op.getActivation() ? activate(*op.getActivation(), sum) : sum;
      }
      rows.erase(rows.begin());
    }
  }
  return result;
}

struct RecurrenceInputs {
  const Matrix &queries, &keys, &values, &decay, &factors;
  const Weight &rates, *skip;
};

// Returns what a vector reads of a matrix, with its rows times `decay`.
static std::vector<double> read(const HeadMemory &matrix, const Matrix &x, int64_t t, int64_t first, double decay) {
  std::vector<double> result(matrix.front().size());
  for (size_t i = 0; i < matrix.size(); ++i)
    for (size_t j = 0; j < result.size(); ++j)
      result[j] += decay * x.at(t, first + static_cast<int64_t>(i)) * matrix[i][j];
  return result;
}

// A token of a head.
static void advance(RecurrenceOp op, const RecurrenceInputs &in, HeadMemory &matrix, int64_t t, int64_t head,
                    Matrix &result) {
  auto state = mlir::cast<KvCacheType>(op.getState().getType());
  int64_t depth = state.getCapacity(), columns = state.getWidth(), group = state.getHeads() * depth / in.keys.columns;
  int64_t keyAt = head / group * depth, valueAt = head * columns;
  double decay = std::exp(-std::exp(double(in.rates.values[head])) * in.decay.at(t, head));
  std::vector<double> reading(columns);
  if (op.getUpdate() == RecurrenceUpdate::delta)
    reading = read(matrix, in.keys, t, keyAt, decay);
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t j = 0; j < columns; ++j)
      matrix[i][j] = decay * matrix[i][j] +
                     in.keys.at(t, keyAt + i) * in.factors.at(t, head) * (in.values.at(t, valueAt + j) - reading[j]);
  std::vector<double> answer = read(matrix, in.queries, t, keyAt, 1);
  for (int64_t j = 0; j < columns; ++j)
    result.at(t, valueAt + j) = answer[j] + (in.skip ? in.skip->values[head] * in.values.at(t, valueAt + j) : 0);
}

static Matrix evaluate(RecurrenceOp op, const RecurrenceInputs &in, State &state, const StepSequences &step) {
  Matrix result(in.values.rows, in.values.columns);
  auto type = mlir::cast<KvCacheType>(op.getState().getType());
  for (const SequenceTokens &sequence : step.sequences) {
    std::vector<HeadMemory> &heads = openState(state, type, sequence);
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t)
      for (int64_t head = 0; head < type.getHeads(); ++head)
        advance(op, in, heads[head], t, head, result);
  }
  return result;
}

static Matrix evaluateRecurrence(RecurrenceOp op, const Frame &frame, const StepSequences &step) {
  MatrixPtr queries = frame.matrix(op.getQueries()), keys = frame.matrix(op.getKeys()),
            values = frame.matrix(op.getValues()), decay = frame.matrix(op.getDecay()),
            factors = frame.matrix(op.getFactors());
  WeightPtr rates = frame.weight(op.getRates()), skip = frame.weight(op.getSkip());
  return evaluate(op, {*queries, *keys, *values, *decay, *factors, *rates, skip.get()}, frame.state(op.getState()),
                  step);
}

static Matrix evaluate(SelectiveScanOp op, const Frame &frame, const StepSequences &step) {
  MatrixPtr x = frame.matrix(op.getX()), steps = frame.matrix(op.getSteps()), input = frame.matrix(op.getInput()),
            output = frame.matrix(op.getOutput());
  WeightPtr rates = frame.weight(op.getRates()), skip = frame.weight(op.getSkip());
  auto type = mlir::cast<KvCacheType>(op.getState().getType());
  int64_t depth = type.getCapacity(), width = type.getWidth();
  Matrix result(x->rows, x->columns);
  for (const SequenceTokens &sequence : step.sequences) {
    std::vector<HeadMemory> &groups = openState(frame.state(op.getState()), type, sequence);
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t)
      for (int64_t c = 0; c < x->columns; ++c) {
        double sum = 0, delta = steps->at(t, c);
        for (int64_t n = 0; n < depth; ++n) {
          double &number = groups[c / width][n][c % width];
          int64_t at = c / width * depth + n;
          number = std::exp(-std::exp(double(rates->values[n * x->columns + c])) * delta) * number +
                   delta * x->at(t, c) * input->at(t, at);
          sum += output->at(t, at) * number;
        }
        result.at(t, c) = sum + skip->values[c] * x->at(t, c);
      }
  }
  return result;
}

std::optional<Matrix> evaluateRecurrence(mlir::Operation *op, const Frame &frame, const StepSequences &step) {
  if (auto recurrence = mlir::dyn_cast<RecurrenceOp>(op))
    return evaluateRecurrence(recurrence, frame, step);
  if (auto scan = mlir::dyn_cast<SelectiveScanOp>(op))
    return evaluate(scan, frame, step);
  auto conv = mlir::dyn_cast<CausalConvOp>(op);
  if (!conv)
    return std::nullopt;
  return evaluate(conv, *frame.matrix(conv.getX()), *frame.weight(conv.getWeight()), frame.weight(conv.getBias()).get(),
                  frame.state(conv.getState()), step);
}

}  // namespace talc::reference
