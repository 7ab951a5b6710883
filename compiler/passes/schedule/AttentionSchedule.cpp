// SPDX-License-Identifier: Apache-2.0
// The cost model that chooses how the loops of an attention are cut.
//
// Large blocks of keys cost less: a row's maximum, sum and output are brought together once for each. But the scores of
// a task, and copies of a block whose keys lie in several slots, must stay in L2 beside the keys.
#include "compiler/passes/schedule/AttentionSchedule.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

// Half of L2 of the smallest processors in use. A constant and not the target's cache: the size of a
// block decides in which order a row is summed up, and that order must be one on all processors of a CPU level.
constexpr int64_t scratchLimit = 256 << 10;
constexpr int64_t smallestBlock = 64, largestBlock = 512;

static int64_t scratchBytes(const kernel::StateLayout &layout, int64_t keys) {
  return 4 * keys * (attentionRows + layout.width + layout.paddedWidth);
}

// Operations on vectors that bring a block's results of one row together, of 100 that the block takes: two exponentials
// and two trees over the lanes, and three operations per vector of the output, besides 2 * width * keys / lanes
// multiply-adds.
static double percentOfBlock(const kernel::StateLayout &layout, int64_t lanes, int64_t keys) {
  double together = 60 + 3.0 * layout.paddedWidth / lanes, block = 2.0 * layout.width * keys / lanes;
  return 100 * together / (together + block);
}

static int64_t blockOf(const kernel::StateLayout &layout) {
  int64_t keys = largestBlock;
  while (keys > smallestBlock && scratchBytes(layout, keys) > scratchLimit)
    keys /= 2;
  return keys;
}

// A single row is one task of its group.
static int64_t rowsOf(kernel::AttentionOp op, int64_t group) {
  bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  return oneRow ? std::min(group, attentionRows) : attentionRows;
}

AttentionSchedule scheduleOf(kernel::AttentionOp op, int64_t keys) {
  kernel::StateLayout layout(cast<StateType>(op.getState().getType()));
  int64_t capacity = layout.panels * layout.tokens, group = op.getHeads() / layout.heads;
  if (keys == 0)
    keys = op.getBlock().value_or(blockOf(layout));
  AttentionSchedule schedule = {AttentionKind::online, keys, rowsOf(op, group), ""};
  if (op.getBlock()) {
    schedule.kind = AttentionKind::split;
  } else if (capacity <= keys) {
    schedule.kind = AttentionKind::twoPass;
    schedule.keys = llvm::alignTo(capacity, smallestBlock);
  }
  return schedule;
}

static std::string explain(const AttentionSchedule &schedule, const kernel::StateLayout &layout, int64_t lanes) {
  int64_t capacity = layout.panels * layout.tokens, keys = schedule.keys;
  switch (schedule.kind) {
  case AttentionKind::twoPass:
    return llvm::formatv("two passes: all {0} keys are one block, nothing is rescaled", capacity);
  case AttentionKind::split:
    return llvm::formatv("split over blocks of {0} keys of {1}: up to {2} tasks instead of {3}", keys, capacity,
                         layout.heads * llvm::divideCeil(capacity, keys), layout.heads);
  case AttentionKind::online:
    return llvm::formatv("online softmax over blocks of {0} keys of {1}: bringing them together is {2:F1} % of the "
                         "work ({3:F1} % with blocks of {4})",
                         keys, capacity, percentOfBlock(layout, lanes, keys),
                         percentOfBlock(layout, lanes, smallestBlock), smallestBlock);
  }
  llvm_unreachable("every kind is explained");
}

AttentionSchedule scheduleOf(kernel::AttentionOp op, int64_t lanes, int64_t keys) {
  kernel::StateLayout layout(cast<StateType>(op.getState().getType()));
  AttentionSchedule schedule = scheduleOf(op, keys);
  schedule.reason =
      llvm::formatv("{0}/{1} heads x {2}, {3} rows a task: {4}; scratch of {5} KiB, limit {6} KiB", op.getHeads(),
                    layout.heads, layout.width, schedule.rows, explain(schedule, layout, lanes),
                    scratchBytes(layout, schedule.keys) >> 10, scratchLimit >> 10);
  return schedule;
}

}  // namespace talc
