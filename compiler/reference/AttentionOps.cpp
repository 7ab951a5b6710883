// SPDX-License-Identifier: Apache-2.0
// rope, append, read, attention.
#include "compiler/reference/AttentionOps.h"

#include "compiler/Error.h"
#include "compiler/reference/Positions.h"
#include "compiler/reference/StoredValues.h"
#include "dialects/Invariant.h"
#include "dialects/talc/formats/KvFormats.h"

#include <cmath>

namespace talc::reference {

// The composed rotations of the three digits of a position.
static std::vector<double> composedRow(const Weight &table, int64_t position, int64_t digits) {
  std::vector<double> turn = row(table, position % digits);
  int64_t half = static_cast<int64_t>(turn.size()) / 2;
  for (int64_t place = 1; place < 3; ++place) {
    position /= digits;
    std::vector<double> next = row(table, place * digits + position % digits);
    for (int64_t i = 0; i < half; ++i) {
      double cosine = turn[i], sine = turn[half + i];
      turn[i] = cosine * next[i] - sine * next[half + i];
      turn[half + i] = sine * next[i] + cosine * next[half + i];
    }
  }
  return turn;
}

llvm::Expected<Matrix> evaluate(RopeOp op, const Matrix &x, const StepSequences &step, const Weight *table) {
  Matrix result = x;
  int64_t rotary = op.getRotary(), half = rotary / 2, width = x.columns / static_cast<int64_t>(op.getHeads());
  auto last = static_cast<int64_t>(op.getLast()), digits = static_cast<int64_t>(op.getDigits());
  if (table && table->shape[1] != rotary)
    return internalError("a rotary table of width {} for {} rotated features", table->shape[1], rotary);
  mlir::Attribute scaling = op.getScaling().value_or(mlir::Attribute());
  for (int64_t t = 0; t < x.rows; ++t) {
    int64_t position = last > 0 ? std::min(step.positions[t], last) : step.positions[t];
    if (table && digits == 0 && position >= rowCount(*table))
      return makeError(ErrorCode::Usage, "the sequence is too long: a table of {} positions has no row {}",
                       rowCount(*table), position);
    std::vector<double> turn = !table       ? rotaryRow(rotary, op.getBase().convertToDouble(), scaling, position)
                               : digits > 0 ? composedRow(*table, position, digits)
                                            : row(*table, position);
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

struct KeptElements {
  mlir::Type keys, values;
};

// The element types of keys and values in a KV cache.
static KeptElements keptElements(KvAppendOp op) {
  auto role = mlir::cast<KvCacheType>(op.getCache().getType()).getRole();
  std::string error;
  auto formats = role == KvCacheRole::sequence || role == KvCacheRole::source
                     ? getKvFormats(op->getParentOfType<mlir::ModuleOp>(), error)
                     : std::nullopt;
  auto typeOf = [&](FormatRef format) { return format->type(op.getContext(), *format); };
  if (formats)
    return {typeOf(formats->keys), typeOf(formats->values)};
  auto exact = mlir::Float32Type::get(op.getContext());
  return {exact, exact};
}

// A row of keys or values as the KV cache stores it: blocks run along the features of a head.
static std::vector<double> storedRow(const Matrix &matrix, int64_t row, KvCacheType type, mlir::Type element) {
  std::vector<double> exact = copyRow(matrix, row);
  if (element.isF32())
    return exact;
  Weight heads{{type.getHeads(), type.getWidth()}, {exact.begin(), exact.end()}};
  roundValues(heads, element);
  return {heads.values.begin(), heads.values.end()};
}

void evaluate(KvAppendOp op, State &state, const Matrix &keys, const Matrix &values, const StepSequences &step) {
  auto type = mlir::cast<KvCacheType>(op.getCache().getType());
  KeptElements elements = keptElements(op);
  for (const SequenceTokens &sequence : step.sequences) {
    SlotState &slot = state[sequence.slot];
    slot.keys.resize(sequence.firstPosition);
    slot.values.resize(sequence.firstPosition);
    for (int64_t r = 0; r < sequence.rows; ++r) {
      slot.keys.push_back(storedRow(keys, sequence.firstRow + r, type, elements.keys));
      slot.values.push_back(storedRow(values, sequence.firstRow + r, type, elements.values));
    }
  }
}

static KeyKind keyKind(KvReadOp op) {
  switch (mlir::cast<KvCacheType>(op.getCache().getType()).getRole()) {
  case KvCacheRole::sequence:
    return KeyKind::sequence;
  case KvCacheRole::source:
    return KeyKind::source;
  case KvCacheRole::step:
    return KeyKind::step;
  case KvCacheRole::memory:
  case KvCacheRole::recurrence:
    break;  // have no rows to read
  }
  endByDefect("every role is listed");
}

llvm::Expected<std::pair<Matrix, Matrix>> evaluate(KvReadOp op, const State &state, const StepSequences &step) {
  auto type = mlir::cast<KvCacheType>(op.getCache().getType());
  KeyKind kind = keyKind(op);
  Matrix keys(step.keys(kind), type.getHeads() * type.getWidth()), values = keys;
  auto keyAt = keys.values.begin(), valueAt = values.values.begin();
  for (const SequenceTokens &sequence : step.sequences) {
    if (kind == KeyKind::source && sequence.sourceLength == 0)
      return makeError(ErrorCode::Usage, "the sequence in slot {} has no source; encode one first", sequence.slot);
    auto slot = state.find(kind == KeyKind::source ? sequence.sourceSlot : sequence.slot);
    int64_t first = kind == KeyKind::step ? sequence.firstPosition : 0;
    for (int64_t p = first, end = first + StepSequences::keys(sequence, kind); p < end; ++p) {
      if (slot == state.end() || p >= static_cast<int64_t>(slot->second.keys.size()) || slot->second.keys[p].empty())
        return makeError(ErrorCode::Program, "a state is read at position {}, where nothing was appended", p);
      keyAt = std::copy(slot->second.keys[p].begin(), slot->second.keys[p].end(), keyAt);
      valueAt = std::copy(slot->second.values[p].begin(), slot->second.values[p].end(), valueAt);
    }
  }
  return std::make_pair(std::move(keys), std::move(values));
}

KeyKind keyKind(AttentionOp op) {
  auto read = op.getKeys().getDefiningOp<KvReadOp>();
  return read ? keyKind(read) : KeyKind::step;
}

namespace {

// The keys of one sequence: row firstRow + i of the keys stands at position firstPosition + i.
struct KeyRows {
  int64_t firstRow, firstPosition, count;
};

// A key that a query sees, the bias of its score, and whether the sink queries meet it.
struct Visible {
  int64_t row;
  double bias;
  bool usesSinkQueries;
};

// Positions are counted in the sequence, or in the source, whose tokens have no order.
bool sees(AttentionOp op, int64_t query, int64_t key, int64_t prefix) {
  auto window = static_cast<int64_t>(op.getWindow());
  if (key < static_cast<int64_t>(op.getSinkTokens()))
    return key <= query;
  if (window > 0 && std::abs(query - key) >= window)
    return false;
  switch (op.getMask()) {
  case MaskKind::full:
    return true;
  case MaskKind::causal:
    return key <= query;
  case MaskKind::prefix:
    return key <= query || (key < prefix && query < prefix);
  }
  endByDefect("every mask is listed");
}

// The bias that a query itself adds to the score of a key at a distance.
double ownBias(AttentionOp op, const Matrix &rowBias, int64_t query, int64_t head, int64_t distance) {
  int64_t distances = rowBias.columns / static_cast<int64_t>(op.getHeads());
  return rowBias.at(query, head * distances + std::max<int64_t>(distances - 1 - distance, 0));
}

// The keys that the token `query`, at a position, sees in one head. Row -1 stands for a key that is zero.
llvm::Expected<std::vector<Visible>> visibleKeys(AttentionOp op, const AttentionInputs &in, KeyRows keys, int64_t query,
                                                 int64_t position, int64_t prefix, int64_t head) {
  std::vector<Visible> result;
  const Weight *bias = in.bias;
  for (int64_t before = position + 1; op.getZeroStart() && before < static_cast<int64_t>(op.getWindow()); ++before)
    result.push_back({-1, ownBias(op, *in.rowBias, query, head, before), false});
  for (int64_t i = 0; i < keys.count; ++i) {
    int64_t key = keys.firstPosition + i;
    if (!sees(op, position, key, prefix))
      continue;
    result.push_back({keys.firstRow + i, 0, key < static_cast<int64_t>(op.getSinkTokens())});
    if (in.rowBias)
      result.back().bias = ownBias(op, *in.rowBias, query, head, position - key);
    if (!bias)
      continue;
    int64_t columns = bias->shape[1], column = op.getAbsolute() ? key : columns / 2 + key - position;
    if (column < 0 || column >= columns)
      return makeError(ErrorCode::Usage, "the sequence is too long: a bias for {} tokens has no distance {}",
                       op.getAbsolute() ? columns : columns / 2 + 1, op.getAbsolute() ? key : key - position);
    result.back().bias = bias->values[head * columns + column];
  }
  return result;
}

// Attends from the token `query` in one head: `first` is the head's first feature in the queries, `keyFirst` in keys
// and values. `sink`: a score without a value.
void attend(AttentionOp op, const AttentionInputs &in, int64_t query, llvm::ArrayRef<Visible> visible,
            std::optional<double> sink, int64_t first, int64_t keyFirst, int64_t width, Matrix &result) {
  if (visible.empty())
    return;
  std::vector<double> scores;
  for (const Visible &key : visible) {
    double sum = 0;
    for (int64_t i = 0; i < width && key.row >= 0; ++i)
      sum +=
          (key.usesSinkQueries ? *in.sinkQueries : in.queries).at(query, first + i) * in.keys.at(key.row, keyFirst + i);
    double score = sum * op.getScale().convertToDouble(), cap = op.getCap().convertToDouble();
    scores.push_back((cap > 0 ? cap * std::tanh(score / cap) : score) + key.bias);
  }
  double largest = std::max(*std::max_element(scores.begin(), scores.end()), sink.value_or(-HUGE_VAL));
  double total = sink ? std::exp(*sink - largest) : 0;
  for (double &score : scores)
    total += score = std::exp(score - largest);
  for (size_t k = 0; k < visible.size(); ++k)
    for (int64_t i = 0; i < width && visible[k].row >= 0; ++i)
      result.at(query, first + i) += scores[k] / total * in.values.at(visible[k].row, keyFirst + i);
}

}  // namespace

llvm::Expected<Matrix> evaluate(AttentionOp op, const AttentionInputs &in, const StepSequences &step) {
  Matrix result(in.queries.rows, in.queries.columns);
  int64_t heads = op.getHeads(), shared = heads / static_cast<int64_t>(op.getKvHeads());
  int64_t width = in.queries.columns / heads, firstKey = 0;
  KeyKind kind = keyKind(op);
  for (const SequenceTokens &sequence : step.sequences) {
    KeyRows rows{firstKey, kind == KeyKind::step ? sequence.firstPosition : 0, StepSequences::keys(sequence, kind)};
    firstKey += rows.count;
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t) {
      for (int64_t head = 0; head < heads; ++head) {
        auto visible = visibleKeys(op, in, rows, t, step.positions[t], sequence.prefix, head);
        if (!visible)
          return visible.takeError();
        std::optional<double> sink;
        if (in.sinks)
          sink = in.sinks->values[head];
        attend(op, in, t, *visible, sink, head * width, head / shared * width, width, result);
      }
    }
  }
  return result;
}

}  // namespace talc::reference
