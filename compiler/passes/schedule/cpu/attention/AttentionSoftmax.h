// SPDX-License-Identifier: Apache-2.0
// From the scores of a block of keys to their weights.
#pragma once

#include "compiler/passes/schedule/attention/OnlineSoftmax.h"
#include "compiler/passes/schedule/cpu/attention/KvView.h"

namespace talc {

// What the rows of a task carry from block to block; scratch of this thread. Rows stand side by side in `maxima` and
// the like, so that what each of them needs once per block is done for a vector of rows at a time.
class AttentionSoftmax {
public:
  using Value = mlir::Value;
  // What is added to the scores of the keys from a column of the block on; only lanes that are seen need a value.
  using Bias = std::function<Value(Value row, Value column, Value seen)>;

  // A task has up to `rows` rows, a block up to `size` keys. `online`: a row may see several blocks.
  AttentionSoftmax(Emitter &emitter, KvView &keys, kernel::AttentionOp op, int64_t rows, int64_t size, bool online);

  void beginTask(Value rowCount);
  void beginBlock(Value firstKey);
  // Products of queries and keys, in the columns [from, to) of a tile of n rows, are scaled and become weights
  // exp(score - the row's largest in this block), zero where masked.
  void weigh(int64_t n, Value row, Value from, Value to, const Bias &bias);
  // Sums and maxima take in the block.
  void endBlock();
  // 1 / sum of a row, zero if it saw no key; after endTask(). `others`, keys without a value, are the last that are
  // taken in; null: there are none.
  void endTask(llvm::function_ref<SoftmaxState(Value row)> others);
  Value inverse(Value row) { return e.broadcast(e.loadScalar(sums, {row})); }
  // The output with `part`, what the block's values yielded, taken in.
  Value takeIn(Value row, Value output, Value part);

  // What the block yields by itself, for a row.
  Value blockMaximum(Value row) { return e.loadScalar(blockMaxima, {row}); }
  Value blockSum(Value row) { return e.loadScalar(blockSums, {row}); }

  Value scores;  // [rows, size and more]

private:
  using Values = Emitter::Values;
  struct Columns {
    Value from, wholeBegin, wholeEnd, to;  // all rows of the tile see [wholeBegin, wholeEnd), in whole vectors
  };
  using Body = llvm::function_ref<Values(Value column, mlir::ValueRange carried, bool whole)>;

  Columns columnsOf(int64_t n, Value row, Value from, Value to);
  Values eachColumn(const Columns &columns, Values values, Body body);
  Values largestScores(int64_t n, Value row, const Columns &columns, const Bias &bias);
  Values weighScores(int64_t n, Value row, const Columns &columns, mlir::ValueRange largest);
  Value visible(Value row, Value column);
  Value steepness();
  void eachRows(llvm::function_ref<void(Value row)> body);
  void fill(Value buffer, double value);

  Emitter &e;
  KvView &keys;
  const bool window, online;
  const double scale, cap;
  const bool scalesFirst;  // before the largest is found, and not on the way to the weights
  Value maxima, sums, factors, gains, blockMaxima, blockSums, otherMaxima, otherSums;  // [rows]
  Value rowCount, firstKey;
};

}  // namespace talc
