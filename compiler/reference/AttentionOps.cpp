// SPDX-License-Identifier: Apache-2.0
// rope, append, read, attention.
#include "compiler/reference/AttentionOps.h"

#include "compiler/Error.h"
#include "compiler/reference/Rotary.h"

#include <cmath>

namespace talc::reference {

// Cosines, then sines, of the angles at a position.
static std::vector<double> angles(const std::vector<double> &frequencies, int64_t position) {
  std::vector<double> result;
  for (double f : frequencies)
    result.push_back(std::cos(position * f));
  for (double f : frequencies)
    result.push_back(std::sin(position * f));
  return result;
}

llvm::Expected<Matrix> evaluate(RopeOp op, const Matrix &x, const StepSequences &step, const Weight *table) {
  Matrix result = x;
  int64_t rotary = op.getRotary(), half = rotary / 2, width = x.columns / static_cast<int64_t>(op.getHeads());
  if (table && table->shape[1] != rotary)
    return internalError("a rotary table of width {} for {} rotated features", table->shape[1], rotary);
  std::vector<double> frequencies =
      rotaryFrequencies(rotary, op.getBase().convertToDouble(), op.getScaling().value_or(mlir::Attribute()));
  for (int64_t t = 0; t < x.rows; ++t) {
    int64_t position = step.positions[t];
    if (table && position >= rowCount(*table))
      return makeError(ErrorCode::Usage, "the sequence is too long: a table of {} positions has no row {}",
                       rowCount(*table), position);
    std::vector<double> turn = table ? row(*table, position) : angles(frequencies, position);
    for (int64_t first = 0; first < x.columns; first += width) {
      for (int64_t i = 0; i < half; ++i) {
        double a = x.at(t, first + i), b = x.at(t, first + half + i), cosine = turn[i], sine = turn[half + i];
        result.at(t, first + i) = a * cosine - b * sine;
        result.at(t, first + half + i) = b * cosine + a * sine;
      }
    }
  }
  return result;
}

static std::vector<double> copyRow(const Matrix &matrix, int64_t row) {
  auto begin = matrix.values.begin() + row * matrix.columns;
  return {begin, begin + matrix.columns};
}

void evaluate(AppendOp, State &state, const Matrix &keys, const Matrix &values, const StepSequences &step) {
  for (const SequenceRows &sequence : step.sequences) {
    SlotState &slot = state[sequence.slot];
    slot.keys.resize(sequence.firstPosition);
    slot.values.resize(sequence.firstPosition);
    for (int64_t r = 0; r < sequence.rows; ++r) {
      slot.keys.push_back(copyRow(keys, sequence.firstRow + r));
      slot.values.push_back(copyRow(values, sequence.firstRow + r));
    }
  }
}

llvm::Expected<std::pair<Matrix, Matrix>> evaluate(ReadOp op, const State &state, const StepSequences &step) {
  auto type = mlir::cast<StateType>(op.getState().getType());
  Matrix keys(step.keys(), type.getHeads() * type.getWidth()), values = keys;
  auto keyAt = keys.values.begin(), valueAt = values.values.begin();
  for (const SequenceRows &sequence : step.sequences) {
    auto slot = state.find(sequence.slot);
    for (int64_t p = 0; p < sequence.length(); ++p) {
      if (slot == state.end() || p >= static_cast<int64_t>(slot->second.keys.size()) || slot->second.keys[p].empty())
        return internalError("a state is read at position {}, where nothing was appended", p);
      keyAt = std::copy(slot->second.keys[p].begin(), slot->second.keys[p].end(), keyAt);
      valueAt = std::copy(slot->second.values[p].begin(), slot->second.values[p].end(), valueAt);
    }
  }
  return std::make_pair(std::move(keys), std::move(values));
}

namespace {

// The keys of one sequence: row firstRow + i of the keys stands at position firstPosition + i.
struct KeyRows {
  int64_t firstRow, firstPosition, count;
};

// The part of the keys that one query sees, as rows [begin, end).
struct Visible {
  int64_t begin, end;
};

Visible visibleKeys(AttentionOp op, KeyRows keys, int64_t position) {
  int64_t begin = 0, end = keys.count, window = op.getWindow();
  if (op.getMask() == MaskKind::causal)
    end = std::min(end, position - keys.firstPosition + 1);
  if (window > 0)
    begin = std::max(begin, end - window);
  return {keys.firstRow + begin, keys.firstRow + end};
}

// Row `query` of one head: `first` is where the head begins in the queries, `keyFirst` in keys and values.
void attend(AttentionOp op, const Matrix &queries, const Matrix &keys, const Matrix &values, int64_t query,
            Visible visible, int64_t first, int64_t keyFirst, int64_t width, Matrix &result) {
  std::vector<double> scores;
  for (int64_t s = visible.begin; s < visible.end; ++s) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += queries.at(query, first + i) * keys.at(s, keyFirst + i);
    scores.push_back(sum * op.getScale().convertToDouble());
  }
  if (scores.empty())
    return;
  double largest = *std::max_element(scores.begin(), scores.end()), total = 0;
  for (double &score : scores)
    total += score = std::exp(score - largest);
  for (int64_t s = visible.begin; s < visible.end; ++s)
    for (int64_t i = 0; i < width; ++i)
      result.at(query, first + i) += scores[s - visible.begin] / total * values.at(s, keyFirst + i);
}

}  // namespace

Matrix evaluate(AttentionOp op, const Matrix &queries, const Matrix &keys, const Matrix &values,
                const StepSequences &step) {
  Matrix result(queries.rows, queries.columns);
  int64_t heads = op.getHeads(), shared = heads / static_cast<int64_t>(op.getKvHeads());
  int64_t width = queries.columns / heads, firstKey = 0;
  bool pastToo = keys.rows != step.rows();
  for (const SequenceRows &sequence : step.sequences) {
    KeyRows rows = pastToo ? KeyRows{firstKey, 0, sequence.length()}
                           : KeyRows{sequence.firstRow, sequence.firstPosition, sequence.rows};
    firstKey += sequence.length();
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t)
      for (int64_t head = 0; head < heads; ++head)
        attend(op, queries, keys, values, t, visibleKeys(op, rows, step.positions[t]), head * width,
               head / shared * width, width, result);
  }
  return result;
}

}  // namespace talc::reference
