// SPDX-License-Identifier: Apache-2.0
// The softmax of attention: scores of a block of keys become weights.
#pragma once

#include "compiler/passes/schedule/attention/OnlineSoftmax.h"
#include "compiler/passes/schedule/cpu/attention/KvView.h"

namespace talc {

// State of the query rows of a task from block to block, in scratch of this thread. Rows lie side by side in `maxima`
// and the like, so that what each of them needs once per block is done for a vector of rows at a time.
class AttentionSoftmax {
public:
  using Value = mlir::Value;
  // Loads what is added to the scores of a vector of keys, from a column of the block on; only lanes of `visible` need
  // a value.
  using Bias = std::function<Value(Value row, Value column, Value visible)>;

  // A task has up to `rows` rows, a block up to `size` keys. `online`: a row may see several blocks.
  AttentionSoftmax(Emitter &emitter, KvView &keys, kernel::AttentionOp op, int64_t rows, int64_t size, bool online);

  void beginTask(Value rowCount);
  void beginBlock(Value firstKey);
  // Turns the products of queries and keys, in columns [from, to) of a tile of n rows, into weights exp(score - the
  // row's largest score in this block), zero where masked.
  void applySoftmax(int64_t n, Value row, Value from, Value to, const Bias &bias);
  // Merges the block into sums and maxima.
  void endBlock();
  // Merges `others`, the softmax state of keys without a value, last; null: there are none. After that inverse() is
  // 1 / sum of a row, zero if it saw no key.
  void endTask(llvm::function_ref<SoftmaxState(Value row)> others);
  Value inverse(Value row) { return e.broadcast(e.loadScalar(sums, {row})); }
  // Merges `partial`, the weighted values of the block, into the output.
  Value merge(Value row, Value output, Value partial);

  // The state of a row in this block alone.
  Value blockMaximum(Value row) { return e.loadScalar(blockMaxima, {row}); }
  Value blockSum(Value row) { return e.loadScalar(blockSums, {row}); }

  Value scores;  // [rows, size and more]

private:
  using Values = Emitter::Values;
  struct Columns {
    Value from, wholeBegin, wholeEnd, to;  // all rows of the tile see [wholeBegin, wholeEnd), in whole vectors
  };
  using Body = llvm::function_ref<Values(Value column, mlir::ValueRange carried, bool isVisible)>;

  Columns splitColumns(int64_t n, Value row, Value from, Value to);
  Values forEachColumn(const Columns &columns, Values values, Body body);
  Values maxScores(int64_t n, Value row, const Columns &columns, const Bias &bias);
  Values exponentiate(int64_t n, Value row, const Columns &columns, mlir::ValueRange maxima);
  Value visibleLanes(Value row, Value column);
  Value exponentScale();
  void forEachVectorOfRows(llvm::function_ref<void(Value row)> body);
  void fill(Value buffer, double value);

  Emitter &e;
  KvView &keys;
  const bool window, online;
  const double scale, cap;
  const bool scalesBeforeMax;  // else while scores become weights
  Value maxima, sums, factors, gains, blockMaxima, blockSums, otherMaxima, otherSums;  // [rows]
  Value rowCount, firstKey;
};

}  // namespace talc
