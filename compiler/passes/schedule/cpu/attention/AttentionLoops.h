// SPDX-License-Identifier: Apache-2.0
// What every strategy of attention is made of: the rows of a task, loops over blocks of keys and over tiles, and how a
// task begins and ends.
#pragma once

#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/cpu/attention/AttentionTiles.h"

namespace talc {

// The rows of a task of one sequence, [0, count).
class TaskRows {
public:
  using Value = mlir::Value;

  TaskRows(kernel::SpanOp span, Value count)
      : firstToken(span.getFirstToken()), firstPosition(span.getFirstPosition()), count(count) {}
  virtual ~TaskRows() = default;

  // The row of the step that a row of the task belongs to, its position in the sequence, and its query's head.
  virtual Value token(Value row) const = 0;
  virtual Value position(Value row) const = 0;
  virtual Value queryHead(Value row) const = 0;

  const Value firstToken, firstPosition;  // of the sequence in the step
  const Value count;
};

// Makes the scratch of this thread where the emitter stands, in front of the tasks.
class AttentionLoops {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  AttentionLoops(Emitter &e, kernel::AttentionOp op, const AttentionPlan &schedule);

  // The task's rows have seen nothing yet. P is cleared unless blocks are known to begin it.
  void begin(const TaskRows &rows, bool clears = true);

  // Runs body(first key, keys) for the blocks that some row of the task sees, and writes the task's result. What
  // earlier blocks yielded is brought together with those before it, of which there are none before the second.
  void eachBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body);

  // The same for a body that writes the result of rows by storeResult() where `only`, an i1, says that they see no
  // other block, after endOnly(). Null: it never does.
  void eachBlockOrOnly(const TaskRows &rows, llvm::function_ref<void(Value first, Value count, Value only)> body);
  void endOnly(const TaskRows &rows, Value only);
  // Of lanes from a column on, the sums of what the only block yields.
  void storeResult(const TaskRows &rows, Value row, Value column, Value sums);
  // Whether every tile of rows sees some key of the first block.
  bool allSeeFirst() { return op.getWindow() == 0 && keys.layout.sinkTokens == 0; }

  // The part of a block's keys [begin, end), counted from its first, that some of the rows see: [from, to), from being
  // rounded down to a panel.
  std::pair<Value, Value> seenOf(Value firstRow, Value lastRow, Value firstKey, Value begin, Value end);

  // Runs body(rows, first row, from, to) for the tiles of the task's rows that see some of the block's keys
  // [begin, end); from and to as above.
  void eachTile(const TaskRows &rows, Value firstKey, Value begin, Value end,
                llvm::function_ref<void(int64_t, Value, Value, Value)> body);

  // The queries of n rows of each entry, [width] each.
  Values queriesOf(const TaskRows &rows, llvm::ArrayRef<TileRows> entries, int64_t n);

  // Weights of a block's scores: its keys [0, count).
  void weighScores(const TaskRows &rows, Value firstKey, Value count);

  kernel::AttentionOp op;
  Emitter &e;
  const AttentionPlan schedule;
  KvView keys;
  AttentionSoftmax softmax;
  AttentionTiles tiles;
  const int64_t width, paddedWidth, group;  // of a head; query heads of a key-value head

private:
  void keptBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body);
  bool online() const { return schedule.kind != AttentionKind::twoPass; }
  AttentionSoftmax::Bias bias(const TaskRows &rows, Value firstKey);
  AttentionSoftmax::Bias rowBias(const TaskRows &rows, Value firstKey);
  Value queryOf(const TaskRows &rows, Value row);
  void takeInPart(const TaskRows &rows, Value hasOutput);
  SoftmaxState sink(const TaskRows &rows, Value row);
  SoftmaxState zeroKeysOf(const TaskRows &rows, Value row);
  bool readsSource();
  bool leavesOnly();
  Value walkBlocks(const TaskRows &rows, llvm::function_ref<void(Value, Value, Value)> body);
  void endTask(const TaskRows &rows);
  void clearResult(const TaskRows &rows);
  void storeResult(const TaskRows &rows, bool severalBlocks);

  Value output;  // O, [rows, padded width]; P is tiles.part
};

// The largest divisor of `count` that is no more than `most`.
int64_t largestDivisor(int64_t count, int64_t most);

}  // namespace talc
