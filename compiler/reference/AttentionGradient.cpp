// SPDX-License-Identifier: Apache-2.0
// The gradients of attention and of rotary positions. Keys are those of the step.
#include "compiler/reference/GradientOps.h"
#include "compiler/reference/Positions.h"

#include <algorithm>
#include <cmath>

namespace talc::reference {

Matrix evaluate(RopeDgradOp op, const Matrix &gradient, const StepSequences &step, const Weight *table) {
  Matrix result = gradient;
  int64_t rotary = op.getRotary(), half = rotary / 2, width = gradient.columns / static_cast<int64_t>(op.getHeads());
  auto last = static_cast<int64_t>(op.getLast());
  for (int64_t t = 0; t < gradient.rows; ++t) {
    int64_t position = last > 0 ? std::min(step.positions[t], last) : step.positions[t];
    std::vector<double> turn = table ? row(*table, position)
                                     : rotaryRow(rotary, op.getBase().convertToDouble(),
                                                 op.getScaling().value_or(mlir::Attribute()), position);
    for (int64_t first = 0; first < gradient.columns; first += width)
      for (int64_t i = 0; i < half; ++i) {
        double a = gradient.at(t, first + i), b = gradient.at(t, first + half + i);
        result.at(t, first + i) = a * turn[i] + b * turn[half + i];
        result.at(t, first + half + i) = b * turn[i] - a * turn[half + i];
      }
  }
  return result;
}

namespace {

struct AttentionContents {
  const Matrix &gradient, &queries, &keys, &values;
  const Weight *bias, *sinks;
};

// The gradients of one query in one head.
class QueryGradient {
public:
  QueryGradient(AttentionDgradOp op, const AttentionContents &in, const SequenceTokens &sequence, int64_t query,
                int64_t head)
      : op(op), in(in), sequence(sequence), query(query), head(head),
        width(in.queries.columns / static_cast<int64_t>(op.getHeads())), first(head * width),
        keyFirst(head / static_cast<int64_t>(op.getHeads() / op.getKvHeads()) * width) {
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t)
      if (sees(t))
        keyRows.push_back(t);
  }

  void add(Matrix &dqueries, Matrix &dkeys, Matrix &dvalues, GradientSum *dsinks) {
    if (keyRows.empty())
      return;
    computeProbabilities();
    double mean = 0;
    std::vector<double> products;
    for (size_t k = 0; k < keyRows.size(); ++k) {
      products.push_back(dot(in.gradient, query, first, in.values, keyRows[k]));
      mean += probabilities[k] * products[k];
    }
    if (dsinks)
      dsinks->values[head] -= sinkProbability * mean;
    for (size_t k = 0; k < keyRows.size(); ++k) {
      double score = probabilities[k] * (products[k] - mean) * slopes[k];
      for (int64_t i = 0; i < width; ++i) {
        dvalues.at(keyRows[k], keyFirst + i) += probabilities[k] * in.gradient.at(query, first + i);
        dqueries.at(query, first + i) += score * in.keys.at(keyRows[k], keyFirst + i);
        dkeys.at(keyRows[k], keyFirst + i) += score * in.queries.at(query, first + i);
      }
    }
  }

private:
  bool sees(int64_t key) {
    int64_t place = query - sequence.firstRow, other = key - sequence.firstRow, window = op.getWindow();
    if (window > 0 && std::abs(place - other) >= window)
      return false;
    bool isShared = op.getMask() == MaskKind::prefix && place < sequence.prefix && other < sequence.prefix;
    return op.getMask() == MaskKind::full || other <= place || isShared;
  }

  double dot(const Matrix &a, int64_t row, int64_t from, const Matrix &b, int64_t key) const {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += a.at(row, from + i) * b.at(key, keyFirst + i);
    return sum;
  }

  double bias(int64_t key) {
    if (!in.bias)
      return 0;
    int64_t columns = in.bias->shape[1];
    return in.bias->values[head * columns + (op.getAbsolute() ? key - sequence.firstRow : columns / 2 + key - query)];
  }

  // Sets `slopes` to the derivatives of scores by query times key.
  void computeProbabilities() {
    const double scale = op.getScale().convertToDouble(), cap = op.getCap().convertToDouble();
    for (int64_t key : keyRows) {
      double score = scale * dot(in.queries, query, first, in.keys, key), bent = cap > 0 ? std::tanh(score / cap) : 0;
      slopes.push_back(cap > 0 ? scale * (1 - bent * bent) : scale);
      probabilities.push_back((cap > 0 ? cap * bent : score) + bias(key));
    }
    double sink = in.sinks ? in.sinks->values[head] : -HUGE_VAL;
    double highest = std::max(*std::max_element(probabilities.begin(), probabilities.end()), sink);
    double total = in.sinks ? std::exp(sink - highest) : 0;
    for (double &value : probabilities)
      total += value = std::exp(value - highest);
    for (double &value : probabilities)
      value /= total;
    sinkProbability = in.sinks ? std::exp(sink - highest) / total : 0;
  }

  AttentionDgradOp op;
  const AttentionContents &in;
  const SequenceTokens &sequence;
  const int64_t query, head, width, first, keyFirst;
  std::vector<int64_t> keyRows;
  std::vector<double> probabilities, slopes;
  double sinkProbability = 0;
};

}  // namespace

void evaluateAttentionDgrad(AttentionDgradOp op, Frame &frame, const StepSequences &step) {
  auto matrix = [&](mlir::Value value) { return frame.matrix(value); };
  MatrixPtr gradient = matrix(op.getGradient()), queries = matrix(op.getQueries()), keys = matrix(op.getKeys()),
            values = matrix(op.getValues());
  WeightPtr bias = frame.weight(op.getBias()), sinks = frame.weight(op.getSinks());
  AttentionContents in = {*gradient, *queries, *keys, *values, bias.get(), sinks.get()};
  GradientSum *dsinks = op.getBuffer() ? &frame.gradient(op.getBuffer()) : nullptr;
  Matrix dqueries(queries->rows, queries->columns), dkeys(keys->rows, keys->columns), dvalues = dkeys;
  for (const SequenceTokens &sequence : step.sequences)
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t)
      for (int64_t head = 0; head < static_cast<int64_t>(op.getHeads()); ++head)
        QueryGradient(op, in, sequence, t, head).add(dqueries, dkeys, dvalues, dsinks);
  frame.set(op.getDqueries(), std::move(dqueries));
  frame.set(op.getDkeys(), std::move(dkeys));
  frame.set(op.getDvalues(), std::move(dvalues));
}

}  // namespace talc::reference
