// SPDX-License-Identifier: Apache-2.0
// expand-attention: loops for the tasks of kernel.attention, grouped heads together.
//
//   tasks over queries    rows of a head of a sequence       AttentionOfHead.cpp
//                         heads of a sequence of one row     AttentionOfToken.cpp; AttentionOfGroup.cpp, if they are
//                         shared
//   tasks over keys       a block of a single row's keys     AttentionOfBlock.cpp; kernel.combine brings them together
//
// AttentionPlan.h chooses the sizes. Every row sees the same sequence of operations whatever its task looks like,
// since blocks of keys begin at fixed positions and masked keys add exact zeros: prefill, decode and ragged batches
// give the same bits.
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
  bool oneRow() { return cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1; }

  // Whether tokens that are alone in their sequences have a strategy of their own.
  bool leavesTokens() {
    KvCacheRole role = cast<KvCacheType>(op.getCache().getType()).getRole();
    return !oneRow() && role != KvCacheRole::step && products->leavesTokens();
  }

  // Whether the queries that share a head are one tile then: chains enough, and registers for them. Without fetches it
  // would wait for memory at every panel.
  bool tilesGroups() {
    constexpr int64_t least = 4;
    int64_t most = std::min<int64_t>(8, loops.schedule.rows);
    return leavesTokens() && KvPrefetch::suits(loops) && e.traits.hasLargeRegisterFile() && loops.group >= least &&
           loops.group <= most;
  }

  // Heads of one task then.
  int64_t headsOfToken() {
    bool single = !leavesTokens() || tilesGroups() || loops.group > registerTileRows;
    return single ? 1 : largestDivisor(loops.keys.layout.heads, loops.schedule.rows / loops.group);
  }

  void expandQueries() {
    int64_t several = headsOfToken();
    tasks.getExtentsMutable().assign({e.rows(op.getQueries()), e.index(loops.keys.layout.heads), e.index(loops.group)});
    tasks.setGrain({loops.schedule.rows, several});
    tasks.setScattered(loops.keys.mayScatter());
    e.b.setInsertionPoint(op);
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), tasks.part(0));
    loops.keys.enter(span);
    auto byHead = [&] {
      bool known = oneRow() && loops.group <= loops.schedule.rows;
      Value count = known ? e.index(loops.group) : tasks.part(4);
      expandRowsOfHead(loops, *products, RowsOfHead(e, span, tasks.part(1), tasks.part(3), count, loops.group));
    };
    if (tilesGroups())
      return e.choose(
          e.less(span.getTokens(), e.index(2)),
          [&] {
            Value first = e.index(0), count = e.index(loops.group);
            expandGroupOfToken(loops, RowsOfHead(e, span, tasks.part(1), first, count, loops.group));
          },
          byHead);
    if (several == 1)
      return byHead();
    e.choose(e.less(tasks.part(2), e.index(2)), byHead,
             [&] { expandHeadsOfToken(loops, span, tasks.part(1), several); });
  }

  // In front of the tasks: the blocks that the row sees.
  void expandKeys() {
    Value zero = e.index(0);
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), zero);
    loops.keys.enter(span);
    loops.keys.enterRow(zero, span.getFirstPosition());
    Value begin = e.div(loops.keys.firstSeen(zero), loops.schedule.keys), end = loops.keys.endSeen(zero);
    tasks.getExtentsMutable().assign({begin, e.ceilDiv(end, loops.schedule.keys), e.index(loops.keys.layout.heads)});
    e.b.setInsertionPoint(op);
    RowsOfHead rows(e, span, tasks.part(1), zero, e.index(loops.group), loops.group);
    expandBlockOfRow(loops, *products, rows, tasks.part(0), end);
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
      expandAttention(emitter, tasks, op, tilesOfHead);
    }
  }
};

}  // namespace

void talc::expandAttention(Emitter &e, kernel::TasksOp tasks, kernel::AttentionOp op, MakeProducts products) {
  std::string problem;
  AttentionPlan schedule = makeAttentionPlan(op, tasks.getPlanAttr(), problem);
  PassRemarks("schedule", "expand-attention").did(op, [&] {
    std::string state = storedName(op.getCache());
    return explain(op, schedule, e.lanes) + "; state: " + (state.empty() ? "several" : state);
  });
  Attention(e, tasks, op, schedule, products).expand();
  op->erase();
}
