// SPDX-License-Identifier: Apache-2.0
// The cost model that chooses how the loops of an attention are cut.
//
// Large blocks of keys cost less: a row's maximum, sum and output are brought together once for each. But the scores of
// a task, and copies of a block whose keys lie in several slots, must stay in L2 beside the keys.
#include "compiler/passes/schedule/attention/AttentionPlan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

// Half of L2 of the smallest processors in use. A constant and not the target's cache: the size of a
// block decides in which order a row is summed up, and that order must be one on all processors of a CPU level.
constexpr int64_t scratchLimit = 256 << 10;
constexpr int64_t smallestBlock = 64, largestBlock = 512;
// Of the stack of a worker, which has 2 MiB.
constexpr int64_t mostScratch = 320 << 10;

static int64_t scratchBytes(const kernel::KvLayout &layout, int64_t keys, int64_t rows = attentionRows) {
  return 4 * keys * (rows + layout.width + layout.paddedWidth);
}

// Operations on vectors that bring a block's results of one row together, of 100 that the block takes: two exponentials
// and two trees over the lanes, and three operations per vector of the output, besides 2 * width * keys / lanes
// multiply-adds.
static double percentOfBlock(const kernel::KvLayout &layout, int64_t lanes, int64_t keys) {
  double together = 60 + 3.0 * layout.paddedWidth / lanes, block = 2.0 * layout.width * keys / lanes;
  return 100 * together / (together + block);
}

static int64_t blockOf(const kernel::KvLayout &layout) {
  int64_t keys = largestBlock;
  while (keys > smallestBlock && scratchBytes(layout, keys) > scratchLimit)
    keys /= 2;
  return keys;
}

// A ring consists of whole blocks.
static int64_t blockInRing(const kernel::KvLayout &layout) {
  int64_t keys = blockOf(layout);
  while (keys > layout.tokens && layout.ringPanels * layout.tokens % keys != 0)
    keys /= 2;
  return keys;
}

// A single row is one task of its group.
static int64_t rowsOf(kernel::AttentionOp op, int64_t group) {
  bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  return oneRow ? std::min(group, attentionRows) : attentionRows;
}

// As many panels as the widest tile takes side by side, and more up to a third of L1.
static int64_t chunkOf(const kernel::KvLayout &layout, int64_t block) {
  constexpr int64_t widestPanels = 4, largestBytes = 16 << 10;
  int64_t keys = widestPanels * layout.tokens;
  while (keys < block && 2 * keys * layout.paddedWidth * 4 <= largestBytes)
    keys *= 2;
  return std::min(keys, block);
}

ArrayRef<TuningParameter<AttentionPlan>> AttentionPlan::parameters() {
  static constexpr TuningParameter<AttentionPlan> all[] = {{"block_keys", &AttentionPlan::keys, 64, 4096},
                                                           {"chunk_keys", &AttentionPlan::chunk, 1, 4096},
                                                           {"fetch_next", &AttentionPlan::fetch, 0, 1},
                                                           {"task_rows", &AttentionPlan::rows, 1, 192}};
  return all;
}

AttentionPlan makeAttentionPlan(kernel::AttentionOp op, int64_t keys) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  int64_t capacity = layout.panels * layout.tokens, group = op.getHeads() / layout.heads;
  if (keys == 0)
    keys = op.getBlock().value_or(layout.isRing() ? blockInRing(layout) : blockOf(layout));
  AttentionPlan schedule = {AttentionKind::online, keys, rowsOf(op, group), 0, 0};
  if (op.getBlock()) {
    schedule.kind = AttentionKind::split;
  } else if (capacity <= keys && !layout.isRing() && !op.getSinks() && !op.getZeroStart()) {
    schedule.kind = AttentionKind::twoPass;
    schedule.keys = llvm::alignTo(capacity, smallestBlock);
  }
  schedule.chunk = chunkOf(layout, schedule.keys);
  return schedule;
}

// Why numbers do not go together; empty: they do.
static std::string contradiction(kernel::AttentionOp op, const AttentionPlan &schedule) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  if (schedule.keys % smallestBlock != 0)
    return "block_keys is no multiple of " + std::to_string(smallestBlock);
  if (op.getBlock() && schedule.keys != static_cast<int64_t>(*op.getBlock()))
    return "block_keys is not " + std::to_string(*op.getBlock()) + ", by which the keys were split";
  if (schedule.chunk % layout.tokens != 0)
    return "chunk_keys is no multiple of " + std::to_string(layout.tokens) + ", the tokens of a panel";
  if (op.getBlock() && static_cast<int64_t>(op.getHeads()) / layout.heads > schedule.rows)
    return "task_rows is less than the heads that share keys";
  if (scratchBytes(layout, schedule.keys, schedule.rows) > std::max(mostScratch, scratchBytes(layout, smallestBlock)))
    return "block_keys and task_rows need more than " + std::to_string(mostScratch) + " bytes of the stack";
  return "";
}

AttentionPlan makeAttentionPlan(kernel::AttentionOp op, kernel::PlanAttr plan, std::string &problem) {
  auto keys = plan ? plan.parameter("block_keys") : std::nullopt;
  AttentionPlan schedule = makeAttentionPlan(op, keys.value_or(0));
  int64_t ofBlock = schedule.keys;  // all keys that there can be may be fewer than a block's
  problem = readPlan(plan, AttentionPlan::parameters(), schedule);
  if (schedule.kind == AttentionKind::twoPass)
    schedule.keys = ofBlock;
  if (problem.empty())
    problem = contradiction(op, schedule);
  return schedule;
}

static std::string explain(const AttentionPlan &schedule, const kernel::KvLayout &layout, int64_t lanes) {
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

std::string explain(kernel::AttentionOp op, const AttentionPlan &schedule, int64_t lanes) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  return llvm::formatv("{0}/{1} heads x {2}, {3} rows a task: {4}; scratch of {5} KiB, limit {6} KiB", op.getHeads(),
                       layout.heads, layout.width, schedule.rows, explain(schedule, layout, lanes),
                       scratchBytes(layout, schedule.keys) >> 10, scratchLimit >> 10);
}

}  // namespace talc
