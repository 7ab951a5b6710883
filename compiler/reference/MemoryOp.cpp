// SPDX-License-Identifier: Apache-2.0
// talc.memory: the compressive memory of earlier segments of a text.
#include "compiler/reference/AttentionOps.h"

#include <algorithm>
#include <cmath>

namespace talc::reference {

namespace {

using Vector = std::vector<double>;

// The features of a head, activated: elu(x) + 1.
Vector activated(const Matrix &x, int64_t row, int64_t first, int64_t width) {
  Vector result;
  for (int64_t i = 0; i < width; ++i) {
    double value = x.at(row, first + i);
    result.push_back(value > 0 ? value + 1 : std::exp(value));
  }
  return result;
}

// Reads a memory with activated features.
Vector recall(const HeadMemory &memory, const Vector &features) {
  size_t width = features.size();
  double divisor = 0;
  Vector result(width);
  for (size_t i = 0; i < width; ++i) {
    divisor += features[i] * memory[width][i];
    for (size_t j = 0; j < width; ++j)
      result[j] += features[i] * memory[i][j];
  }
  for (double &value : result)
    value /= std::max(divisor, 1e-6);
  return result;
}

// Moves what the open segment has added to the past.
void openSegment(SlotState &slot, int64_t heads, int64_t width, bool isFirst) {
  HeadMemory nothing(width + 1, Vector(width));
  if (isFirst)
    slot.past = slot.pending = std::vector<HeadMemory>(heads, nothing);
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i <= width; ++i)
      for (int64_t j = 0; j < width; ++j)
        slot.past[head][i][j] += slot.pending[head][i][j];
    slot.pending[head] = nothing;
  }
}

void write(HeadMemory &pending, const Vector &features, const Vector &value) {
  size_t width = features.size();
  for (size_t i = 0; i < width; ++i) {
    pending[width][i] += features[i];
    for (size_t j = 0; j < width; ++j)
      pending[i][j] += features[i] * value[j];
  }
}

}  // namespace

Matrix evaluate(MemoryOp op, const Matrix &local, const Matrix &queries, const Matrix &keys, const Matrix &values,
                State &state, const Weight &gates, const StepSequences &step) {
  Matrix result(queries.rows, queries.columns);
  auto type = mlir::cast<KvCacheType>(op.getCache().getType());
  int64_t heads = op.getHeads(), kvHeads = type.getHeads(), width = type.getWidth();
  for (const SequenceTokens &sequence : step.sequences) {
    SlotState &slot = state[sequence.slot];
    bool isFirst = sequence.segment == 0;
    if (sequence.firstPosition == 0)
      openSegment(slot, kvHeads, width, isFirst);
    for (int64_t t = sequence.firstRow; t < sequence.firstRow + sequence.rows; ++t) {
      for (int64_t head = 0; head < heads; ++head) {
        Vector found = recall(slot.past[head * kvHeads / heads], activated(queries, t, head * width, width));
        double gate = op.getLocalFirst() && isFirst ? 0 : 1 / (1 + std::exp(-double(gates.values[head])));
        for (int64_t i = 0; i < width; ++i)
          result.at(t, head * width + i) = gate * found[i] + (1 - gate) * local.at(t, head * width + i);
      }
      for (int64_t head = 0; head < kvHeads; ++head) {
        Vector features = activated(keys, t, head * width, width), value(width);
        Vector known = op.getUpdate() == MemoryUpdate::delta ? recall(slot.past[head], features) : Vector(width);
        for (int64_t i = 0; i < width; ++i)
          value[i] = values.at(t, head * width + i) - known[i];
        write(slot.pending[head], features, value);
      }
    }
  }
  return result;
}

}  // namespace talc::reference
