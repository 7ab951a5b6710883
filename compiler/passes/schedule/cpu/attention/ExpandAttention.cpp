// SPDX-License-Identifier: Apache-2.0
// expand-attention: the loops of a task of kernel.attention; the query heads that share a key-value head are computed
// together. AttentionStrategies.cpp has the strategies:
//
//   tasks over queries    rows of a head of a sequence, or heads of a sequence of one token
//   tasks over keys       a block of a single token's keys; kernel.combine merges them (flash decoding)
//
// attention/AttentionPlan.h chooses the sizes. Every row goes through the same sequence of operations whatever its task
// looks like, since blocks of keys begin at fixed positions and masked keys add exact zeros: prefill, decode and ragged
// batches give the same bits.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/attention/KvPrefetch.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class Attention {
public:
  Attention(Emitter &e, kernel::TasksOp tasks, kernel::AttentionOp op, const AttentionPlan &schedule,
            MakeProducts products)
      : e(e), tasks(tasks), op(op), loops(e, op, schedule), products(products(loops)) {}

  void expand() { op.getBlock() ? expandKeys() : expandQueries(); }

private:
  bool hasOneToken() { return cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1; }

  // Whether tokens that are alone in their sequences have a strategy of their own.
  bool hasTokenStrategy() {
    KvCacheRole role = cast<KvCacheType>(op.getCache().getType()).getRole();
    return !hasOneToken() && role != KvCacheRole::step && products->hasTokenStrategy();
  }

  // Whether the queries of such a token that share a head are one tile: if they are enough chains, and there are
  // registers for them. Without prefetches the tile would wait for memory at every panel.
  bool tilesTokenGroups() {
    constexpr int64_t minQueries = 4;
    int64_t maxQueries = std::min<int64_t>(8, loops.schedule.rows);
    return hasTokenStrategy() && KvPrefetch::appliesTo(loops) && e.traits.hasLargeRegisterFile() &&
           loops.group >= minQueries && loops.group <= maxQueries;
  }

  // Heads of one task of such a token.
  int64_t headsPerTask() {
    bool single = !hasTokenStrategy() || tilesTokenGroups() || loops.group > registerTileRows;
    return single ? 1 : largestDivisor(loops.keys.layout.heads, loops.schedule.rows / loops.group);
  }

  void expandQueries() {
    int64_t several = headsPerTask();
    tasks.getExtentsMutable().assign({e.rows(op.getQueries()), e.index(loops.keys.layout.heads), e.index(loops.group)});
    tasks.setGrain({loops.schedule.rows, several});
    tasks.setScattered(loops.keys.mayScatter());
    e.b.setInsertionPoint(op);
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), tasks.part(0));
    loops.keys.enter(span);
    auto byHead = [&] {
      bool isSingleToken = hasOneToken() && loops.group <= loops.schedule.rows;
      Value count = isSingleToken ? e.index(loops.group) : tasks.part(4);
      expandHeadRows(loops, *products, HeadRows(e, span, tasks.part(1), tasks.part(3), count, loops.group));
    };
    if (tilesTokenGroups())
      return e.choose(
          e.less(span.getTokens(), e.index(2)),
          [&] {
            Value first = e.index(0), count = e.index(loops.group);
            expandTokenGroup(loops, HeadRows(e, span, tasks.part(1), first, count, loops.group));
          },
          byHead);
    if (several == 1)
      return byHead();
    e.choose(e.less(tasks.part(2), e.index(2)), byHead, [&] { expandTokenHeads(loops, span, tasks.part(1), several); });
  }

  // The blocks that the token sees are computed before the tasks.
  void expandKeys() {
    Value zero = e.index(0);
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), zero);
    loops.keys.enter(span);
    loops.keys.enterRow(zero, span.getFirstPosition());
    Value begin = e.div(loops.keys.firstVisible(zero), loops.schedule.keys), end = loops.keys.visibleEnd(zero);
    tasks.getExtentsMutable().assign({begin, e.ceilDiv(end, loops.schedule.keys), e.index(loops.keys.layout.heads)});
    e.b.setInsertionPoint(op);
    HeadRows rows(e, span, tasks.part(1), zero, e.index(loops.group), loops.group);
    expandSplitKvBlock(loops, *products, rows, tasks.part(0), end);
  }

  Emitter &e;
  kernel::TasksOp tasks;
  kernel::AttentionOp op;
  AttentionLoops loops;
  std::unique_ptr<HeadProducts> products;
};

struct ExpandAttention : talc::impl::ExpandAttentionBase<ExpandAttention> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits || !areValidKvCaches(getOperation(), traits->lanes))
      return signalPassFailure();
    SmallVector<kernel::AttentionOp> ops;
    getOperation().walk([&](kernel::AttentionOp op) { ops.push_back(op); });
    for (kernel::AttentionOp op : ops) {
      kernel::TasksOp tasks = getPlannedTasks(op);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(tasks);
      Emitter emitter(builder, op->getLoc(), *traits);
      expandAttention(emitter, tasks, op, makeTileProducts);
    }
  }
};

}  // namespace

void talc::expandAttention(Emitter &e, kernel::TasksOp tasks, kernel::AttentionOp op, MakeProducts products) {
  std::string problem;
  AttentionPlan schedule = makeAttentionPlan(op, tasks.getPlanAttr(), problem);
  PassRemarks("schedule", "expand-attention").did(op, [&] {
    std::string cache = storedName(op.getCache());
    return explain(op, schedule, e.lanes) + "; KV cache: " + (cache.empty() ? "several" : cache);
  });
  Attention(e, tasks, op, schedule, products).expand();
  op->erase();
}
