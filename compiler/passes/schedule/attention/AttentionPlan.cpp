// SPDX-License-Identifier: Apache-2.0
// The cost model of attention, which chooses the tuning parameters.
//
// Large key blocks are cheaper, since the maximum, sum and output of a row are merged once per block. But the scores of
// a task, and copies of a block whose keys are in several slots, must fit into L2 together with the keys.
#include "compiler/passes/schedule/attention/AttentionPlan.h"

#include "dialects/Invariant.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

// Half of L2 of the smallest CPUs in use. It does not depend on the cache of the target: the size of a block determines
// the order of sums, which must be the same on all CPUs of a level.
constexpr int64_t scratchLimit = 256 << 10;
constexpr int64_t smallestBlock = 64, largestBlock = 512;
// Limit for the stack of a worker, which has 2 MiB.
constexpr int64_t maxScratch = 320 << 10;

static int64_t scratchBytes(const kernel::KvLayout &layout, int64_t keys, int64_t rows = attentionRows) {
  return 4 * keys * (rows + layout.width + layout.paddedWidth);
}

// The share of vector operations that merge the results of a block for one row, in percent: two exponentials, two
// reductions over the lanes, and three operations per vector of the output, compared to 2 * width * keys / lanes
// multiply-adds.
static double mergePercent(const kernel::KvLayout &layout, int64_t lanes, int64_t keys) {
  double merge = 60 + 3.0 * layout.paddedWidth / lanes, block = 2.0 * layout.width * keys / lanes;
  return 100 * merge / (merge + block);
}

static int64_t chooseBlock(const kernel::KvLayout &layout) {
  int64_t keys = largestBlock;
  while (keys > smallestBlock && scratchBytes(layout, keys) > scratchLimit)
    keys /= 2;
  return keys;
}

// The capacity of a ring must be a multiple of the block.
static int64_t chooseRingBlock(const kernel::KvLayout &layout) {
  int64_t keys = chooseBlock(layout);
  while (keys > layout.tokens && layout.ringPanels * layout.tokens % keys != 0)
    keys /= 2;
  return keys;
}

// A single token has one task for the query heads of a key-value head.
static int64_t chooseRows(kernel::AttentionOp op, int64_t group) {
  bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  return oneRow ? std::min(group, attentionRows) : attentionRows;
}

// The number of panels that the widest tile takes side by side, and more up to a third of L1.
static int64_t chooseChunk(const kernel::KvLayout &layout, int64_t block) {
  constexpr int64_t widestPanels = 4, largestBytes = 16 << 10;
  int64_t keys = widestPanels * layout.tokens;
  while (keys < block && 2 * keys * layout.paddedWidth * 4 <= largestBytes)
    keys *= 2;
  return std::min(keys, block);
}

ArrayRef<TuningParameter<AttentionPlan>> AttentionPlan::parameters() {
  static constexpr TuningParameter<AttentionPlan> all[] = {{blockKeysParameter, &AttentionPlan::keys, 64, 4096},
                                                           {"chunk_keys", &AttentionPlan::chunk, 1, 4096},
                                                           {"fetch_next", &AttentionPlan::fetch, 0, 1},
                                                           {"task_rows", &AttentionPlan::rows, 1, 192}};
  return all;
}

AttentionPlan makeAttentionPlan(kernel::AttentionOp op, int64_t keys) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  int64_t capacity = layout.panels * layout.tokens, group = op.getHeads() / layout.heads;
  if (keys == 0)
    keys = op.getBlock().value_or(layout.isRing() ? chooseRingBlock(layout) : chooseBlock(layout));
  AttentionPlan plan = {AttentionKind::online, keys, chooseRows(op, group), 0, 0};
  if (op.getBlock()) {
    plan.kind = AttentionKind::split;
  } else if (capacity <= keys && !layout.isRing() && !op.getSinks() && !op.getZeroStart()) {
    plan.kind = AttentionKind::twoPass;
    plan.keys = llvm::alignTo(capacity, smallestBlock);
  }
  plan.chunk = chooseChunk(layout, plan.keys);
  return plan;
}

// Why parameters are inconsistent; empty if they are not.
static std::string contradiction(kernel::AttentionOp op, const AttentionPlan &plan) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  if (plan.keys % smallestBlock != 0)
    return "block_keys is not a multiple of " + std::to_string(smallestBlock);
  if (op.getBlock() && plan.keys != static_cast<int64_t>(*op.getBlock()))
    return "block_keys is not " + std::to_string(*op.getBlock()) + ", by which the keys were split";
  if (plan.chunk % layout.tokens != 0)
    return "chunk_keys is not a multiple of " + std::to_string(layout.tokens) + ", the tokens of a panel";
  if (op.getBlock() && static_cast<int64_t>(op.getHeads()) / layout.heads > plan.rows)
    return "task_rows is less than the number of heads that share keys";
  if (scratchBytes(layout, plan.keys, plan.rows) > std::max(maxScratch, scratchBytes(layout, smallestBlock)))
    return "block_keys and task_rows need more than " + std::to_string(maxScratch) + " bytes of the stack";
  return "";
}

AttentionPlan makeAttentionPlan(kernel::AttentionOp op, kernel::PlanAttr attribute, std::string &problem) {
  auto keys = attribute ? attribute.parameter(blockKeysParameter) : std::nullopt;
  AttentionPlan plan = makeAttentionPlan(op, keys.value_or(0));
  int64_t chosenKeys =
      plan.keys;  // with two passes, all keys are one block, which may be smaller than a block of the online softmax
  problem = readPlan(attribute, AttentionPlan::parameters(), plan);
  if (plan.kind == AttentionKind::twoPass)
    plan.keys = chosenKeys;
  if (problem.empty())
    problem = contradiction(op, plan);
  return plan;
}

static std::string explain(const AttentionPlan &plan, const kernel::KvLayout &layout, int64_t lanes) {
  int64_t capacity = layout.panels * layout.tokens, keys = plan.keys;
  switch (plan.kind) {
  case AttentionKind::twoPass:
    return llvm::formatv("two passes: all {0} keys are one block, nothing is rescaled", capacity);
  case AttentionKind::split:
    return llvm::formatv("split over blocks of {0} keys of {1}: up to {2} tasks instead of {3}", keys, capacity,
                         layout.heads * llvm::divideCeil(capacity, keys), layout.heads);
  case AttentionKind::online:
    return llvm::formatv("online softmax over blocks of {0} keys of {1}: merging them is {2:F1} % of the "
                         "work ({3:F1} % with blocks of {4})",
                         keys, capacity, mergePercent(layout, lanes, keys), mergePercent(layout, lanes, smallestBlock),
                         smallestBlock);
  }
  endByDefect("every kind is explained");
}

std::string explain(kernel::AttentionOp op, const AttentionPlan &plan, int64_t lanes) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  return llvm::formatv("{0}/{1} heads x {2}, {3} rows a task: {4}; scratch of {5} KiB, limit {6} KiB", op.getHeads(),
                       layout.heads, layout.width, plan.rows, explain(plan, layout, lanes),
                       scratchBytes(layout, plan.keys) >> 10, scratchLimit >> 10);
}

}  // namespace talc
