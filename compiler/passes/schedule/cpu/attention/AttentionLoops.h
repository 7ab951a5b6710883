// SPDX-License-Identifier: Apache-2.0
// What all strategies of attention share: the query rows of a task, loops over blocks of keys and over tiles, and the
// begin and end of a task.
#pragma once

#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/cpu/attention/AttentionTiles.h"

namespace talc {

// The query rows of a task of one sequence, [0, count).
class TaskRows {
public:
  using Value = mlir::Value;

  TaskRows(kernel::SpanOp span, Value count)
      : firstToken(span.getFirstToken()), firstPosition(span.getFirstPosition()), count(count) {}
  virtual ~TaskRows() = default;

  // The token of the step that a row belongs to, its position in the sequence, and its query head.
  virtual Value token(Value row) const = 0;
  virtual Value position(Value row) const = 0;
  virtual Value queryHead(Value row) const = 0;

  const Value firstToken, firstPosition;  // of the sequence in the step
  const Value count;
};

// Allocates the scratch of this thread where the emitter stands, before the tasks.
class AttentionLoops {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  AttentionLoops(Emitter &e, kernel::AttentionOp op, const AttentionPlan &schedule);

  // Begins a task. P is cleared unless the first chunk of every row is known to begin it.
  void begin(const TaskRows &rows, bool clears = true);

  // Runs body(first key, keys) for the blocks that some row of the task sees, merges their partial results, and writes
  // the result of the task.
  void forEachBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body);

  // The same for a body that writes results by storeResult(), after endOnly(), where `only`, an i1, says that rows see
  // no other block. Null: it never does.
  void forEachBlockOrOnly(const TaskRows &rows, llvm::function_ref<void(Value first, Value count, Value only)> body);
  void endOnly(const TaskRows &rows, Value only);
  // Stores the result of the only block, for a vector of columns.
  void storeResult(const TaskRows &rows, Value row, Value column, Value sums);
  // Whether every tile of rows sees a key of the first block.
  bool allRowsSeeFirstBlock() { return op.getWindow() == 0 && keys.layout.sinkTokens == 0; }

  // The part [from, to) of a block's keys [begin, end), counted from its first, that some of the rows see; `from` is
  // rounded down to a panel.
  std::pair<Value, Value> visibleRange(Value firstRow, Value lastRow, Value firstKey, Value begin, Value end);

  // Runs body(rows, first row, from, to) for the tiles of the task's rows that see some of the block's keys
  // [begin, end); from and to as above.
  void forEachTile(const TaskRows &rows, Value firstKey, Value begin, Value end,
                   llvm::function_ref<void(int64_t, Value, Value, Value)> body);

  // Views of the queries of n rows of each entry, [width] each.
  Values queryViews(const TaskRows &rows, llvm::ArrayRef<QueryTile> entries, int64_t n);

  // Turns the scores of a block's keys [0, count) into weights.
  void applySoftmax(const TaskRows &rows, Value firstKey, Value count);

  kernel::AttentionOp op;
  Emitter &e;
  const AttentionPlan schedule;
  KvView keys;
  AttentionSoftmax softmax;
  AttentionTiles tiles;
  const int64_t width, paddedWidth, group;  // of a head; query heads of a key-value head

private:
  void forSinkBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body);
  bool online() const { return schedule.kind != AttentionKind::twoPass; }
  AttentionSoftmax::Bias bias(const TaskRows &rows, Value firstKey);
  AttentionSoftmax::Bias rowBias(const TaskRows &rows, Value firstKey);
  Value queryView(const TaskRows &rows, Value row);
  void mergePartial(const TaskRows &rows, Value hasOutput);
  SoftmaxState sink(const TaskRows &rows, Value row);
  SoftmaxState zeroKeyState(const TaskRows &rows, Value row);
  bool isCrossAttention();
  bool mayStoreOnlyBlock();
  Value walkBlocks(const TaskRows &rows, llvm::function_ref<void(Value, Value, Value)> body);
  void endTask(const TaskRows &rows);
  void clearResult(const TaskRows &rows);
  void storeResult(const TaskRows &rows, bool severalBlocks);

  Value output;  // O, [rows, padded width]; P is tiles.partial
};

// The largest divisor of `count` that is at most `limit`.
int64_t largestDivisor(int64_t count, int64_t limit);

}  // namespace talc
