// SPDX-License-Identifier: Apache-2.0
// expand-contract: the loops of a task of kernel.contract, and the register tiles in them.
//
//   for each block of panels                         (the task's rows and their sums stay in L2)
//     for each block of k
//       for each group of panels                     (its part stays in cache while the rows pass)
//         for each tile of rows                      (rows are dealt evenly to as few tiles as possible)
//           accumulators; for k: the group's vectors, a broadcast per row, a multiply-add for each pair
//           on the way the tiles fetch what comes next of the weight into cache
//           store the sums
//         after the last k, row by row: epilogue, store
//
// Of integers that take long to unpack, many rows pass panels that are unpacked once for all of them, 256 k at a time:
// levels as bytes, 16 KiB of a panel of 64 columns, stay in L1, and sums wait on the stack.
//
//                    k block 0    k block 1          one block of panels, two groups; tiles 0 to 3 of a block of rows
//   panels 0-3      0 1 2 3  ->  8 9 ...             take group 0, then tiles 4 to 7 take group 1, then the next k
//   panels 4-7      4 5 6 7  ->
//
// A group of panels fills the accumulators (tileColumns). With few rows a group has more columns, so that the
// multiply-adds still overlap. Sums are stored, so that the code of an epilogue exists once and not for every shape of
// a tile, and so that k can be divided: a chain goes on where it stopped. A divided k leaves them in the result itself,
// which has room for many groups; where that is not possible (gated, or a last panel that is not full) they lie on the
// stack, and a block of panels is one group.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/AmxIntegers.h"
#include "compiler/passes/schedule/cpu/ContractEpilogue.h"
#include "compiler/passes/schedule/cpu/ContractPrefetch.h"
#include "compiler/passes/schedule/cpu/EvenParts.h"
#include "dialects/kernel/PartialSums.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDCONTRACT
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

std::string describe(const ContractPlan &plan, const std::string &weight) {
  return llvm::formatv(
      "{0} x {1}: tiles of {2} rows x {3} lanes; blocks of {4} rows, {5} panels and {6} of k; sums {7}; weight: {8}",
      plan.depth, plan.width, plan.tileRows, plan.tileLanes(plan.tileRows), plan.blockRows, plan.blockPanels,
      plan.blockDepth, plan.sumsInResult() ? "wait in the result" : "wait on the stack",
      weight.empty() ? "several" : weight);
}

class Contract {
public:
  Contract(Emitter &e, kernel::TasksOp tasks, kernel::ContractOp op)
      : c{op, ContractPlan(op, e.lanes, tasks.getPlanAttr()), e}, plan(c.plan), e(e), tasks(tasks) {}

  void expand() {
    int64_t known = cast<MemRefType>(c.op.getX().getType()).getDimSize(0);
    bool few = !ShapedType::isDynamic(known) && known <= plan.tileRows;
    int64_t most = few ? known : plan.fewRows();
    PassRemarks("schedule", "expand-contract").did(c.op, [&] { return describe(plan, storedName(c.op.getWeight())); });
    // In front of the tasks, so that the stack belongs to the function's frame.
    Value sumsOfFew = most > 0 ? e.stackBuffer({most, plan.groupPanels(1) * plan.panelLanes}) : Value();
    int64_t lanes = plan.groupPanels(plan.tileRows) * plan.panelLanes;
    bool wait = !few && !plan.sumsInResult();
    Value sumsOfMany = wait ? e.stackBuffer({plan.blockRows, lanes}) : Value();
    if (!few && plan.layoutRows > 0 && !c.op->hasAttr(byAmxAttr))
      laidOut = makeLayout(sumsOfMany);
    Value sumsOfStreams = !few && plan.streamRows > 0 ? e.stackBuffer({plan.streamRows, lanes}) : Value();
    if (!few && c.op->hasAttr(byAmxAttr))
      amx.emplace(c);
    tasks.getExtentsMutable().assign({e.rows(c.op.getX()), e.index(plan.panels)});
    tasks.setGrain({plan.blockRows, plan.taskPanels});
    e.b.setInsertionPoint(c.op);
    Value first = tasks.part(0), rows = e.sub(tasks.part(1), first);
    Span panels = {tasks.part(2), tasks.part(3)};
    if (few)
      return fewRows(first, known, panels, sumsOfFew);
    e.choose(
        e.less(rows, e.index(most + 1)),
        [&] { e.dispatch(rows, 1, most, [&](int64_t n) { fewRows(first, n, panels, sumsOfFew); }); },
        [&] {
          auto others = [&] { streamOrMany(first, rows, most < plan.tileRows, panels, sumsOfStreams, sumsOfMany); };
          if (amx)
            return e.choose(
                amx->take(rows), [&] { amx->multiply(first, rows, panels.begin, panels.end); }, others);
          if (!laidOut)
            return others();
          e.choose(e.less(rows, e.index(plan.layoutRows)), others, [&] { laidOutRows(first, rows, panels); });
        });
  }

private:
  // [begin, end)
  struct Span {
    Value begin, end;
  };
  // A block of rows, in tiles.
  struct Rows {
    Value first, count;
    const EvenParts tiles;
    int64_t ofTile;  // at least
  };
  // Panels that take a block of k one after the other. `stack`: where sums wait; null: in the result.
  struct PanelBlock {
    Span panels;
    Value end;  // of the task's panels
    Value stack, firstK, isLast;
    int64_t depth, tileRows;
    LaidOut laidOut;
  };
  // How many panels and steps of k a block has, and where sums wait.
  struct Blocks {
    int64_t panels, depth;
    Value stack;
    int64_t tileRows;
    LaidOut laidOut = {};
  };
  // Unpacked panels, and the sums beside them.
  struct Layout {
    LaidOut panels;
    Value sums;
  };

  // In sums of others, if these are as many.
  Layout makeLayout(Value others) {
    int64_t lanes = plan.groupPanels(plan.layoutTileRows()) * plan.panelLanes;
    int64_t words = plan.products.layout->words(*plan.weightFormat, plan.layoutDepth());
    auto type = MemRefType::get({words, lanes}, e.b.getI32Type());
    Value memory = memref::AllocaOp::create(e.b, e.loc, type, e.b.getI64IntegerAttr(64));
    bool same = others && lanes == plan.groupPanels(plan.tileRows) * plan.panelLanes;
    return {{memory}, same ? others : e.stackBuffer({plan.blockRows, lanes})};
  }

  // Runs body(panels at a time, first panel). A rest is halved again and again: a tile of one panel has too few chains
  // to keep the multiply-adds busy.
  void eachGroup(int64_t rows, Span panels, llvm::function_ref<void(int64_t, Value)> body) {
    Value first = panels.begin;
    for (int64_t step = plan.groupPanels(rows); step > 0; step /= 2) {
      Value whole = e.add(first, e.mul(e.div(e.sub(panels.end, first), step), step));
      e.loop(first, whole, step, [&](Value panel) { body(step, panel); });
      first = whole;
    }
  }

  void fewRows(Value first, int64_t rows, Span panels, Value stack) {
    eachGroup(rows, panels, [&](int64_t count, Value panel) {
      bool streams = rows <= plan.fetchRows && plan.fetchAhead > 0;
      TileFetch fetch = streams ? fetchStreams(c, count, panel, plan.fetchAhead) : nullptr;
      WaitingSums sums = {stack, first, panel};
      ContractTile{rows, count, e.index(0), panel, e.index(0), plan.depth, fetch, streams}.emit(c, sums);
      emitEpilogue(c, sums, e.index(rows), e.index(count), panel);
    });
  }

  // `mayBeTile`: whether there may be so few that they are one tile of any size.
  void streamOrMany(Value first, Value count, bool mayBeTile, Span panels, Value sumsOfStreams, Value sumsOfMany) {
    const int64_t half = (plan.tileRows + 1) / 2;  // what falls into several tiles has none that is smaller
    auto many = [&] {
      Rows rows = {first, count, EvenParts(e, count, plan.tileRows, plan.tallRows), mayBeTile ? 1 : half};
      manyRows(rows, panels, {plan.blockPanels, plan.blockDepth, sumsOfMany, plan.tileRows});
    };
    if (!sumsOfStreams)
      return many();
    Value isTile = e.less(count, e.index(std::max(plan.tileRows, plan.tallRows) + 1));
    e.choose(e.select(isTile, isTile, e.less(e.index(plan.streamRows), count)), many, [&] {
      Rows rows = {first, count, EvenParts(e, count, plan.tileRows), half};
      manyRows(rows, panels, {plan.groupPanels(plan.tileRows), plan.streamDepth, sumsOfStreams, plan.tileRows});
    });
  }

  void laidOutRows(Value first, Value count, Span panels) {
    int64_t tile = plan.layoutTileRows();
    Rows rows = {first, count, EvenParts(e, count, tile), std::max<int64_t>(tile - 1, 1)};
    manyRows(rows, panels, {plan.groupPanels(tile), plan.layoutDepth(), laidOut->sums, tile, laidOut->panels});
  }

  void manyRows(const Rows &rows, Span panels, Blocks blocks) {
    e.loop(panels.begin, panels.end, blocks.panels, [&](Value begin) {
      Span block = {begin, e.min(e.add(begin, blocks.panels), panels.end)};
      e.loop(e.index(0), e.index(plan.depth), blocks.depth, [&](Value firstK) {
        Value isLast = e.less(e.index(plan.depth), e.add(firstK, blocks.depth + 1));
        groupsOf(rows,
                 {block, panels.end, blocks.stack, firstK, isLast, blocks.depth, blocks.tileRows, blocks.laidOut});
      });
    });
  }

  void groupsOf(const Rows &rows, const PanelBlock &block) {
    eachGroup(block.tileRows, block.panels, [&](int64_t count, Value panel) {
      if (block.laidOut)
        layOutPanels(c, count, panel, block.firstK, block.depth, block.laidOut);
      NextPanels next = nextPanels(rows, block, count, e.add(panel, count));
      WaitingSums sums = {block.stack, rows.first, block.depth < plan.depth ? block.panels.begin : panel};
      auto tile = [&](Value t, Value row, int64_t n) {
        fetchResultsOf(block, n, count, e.add(rows.first, row), panel);
        TileFetch fetch = fetchOf(n, t, next, block, count, panel);
        ContractTile{n, count, row, panel, block.firstK, block.depth, fetch, /*streams=*/false, block.laidOut, panel}
            .emit(c, sums);
      };
      rows.tiles.each(e, tile, rows.ofTile);
      e.when(block.isLast, [&] { emitEpilogue(c, sums, rows.count, e.index(count), panel); });
    });
  }

  // An epilogue reads and writes them after the last k.
  void fetchResultsOf(const PanelBlock &block, int64_t rows, int64_t panels, Value row, Value panel) {
    auto fetch = [&] { fetchResults(c, rows, panels, row, panel); };
    if (block.stack && block.depth < plan.depth)
      return e.when(block.isLast, fetch);
    fetch();
  }

  // What comes next; and the first tile of a task, for which nobody fetched, its own panels.
  TileFetch fetchOf(int64_t rows, Value tile, const NextPanels &next, const PanelBlock &block, int64_t panels,
                    Value panel) {
    TileFetch later = next.ofTile(tile, rows);
    if (plan.fetchFirst == 0)
      return later;
    Value place = e.add(e.add(tile, block.firstK), e.sub(panel, tasks.part(2))), isFirst = e.less(place, e.index(1));
    TileFetch own = fetchStreams(c, panels, panel, plan.fetchFirst);
    return [this, isFirst, own, later](Value piece, Value k, Turn turn) {
      e.when(isFirst, [&] { own(piece, k, turn); });
      if (later)
        later(piece, k, turn);
    };
  }

  // The group behind this one comes next, or the block's first one with the next k, or another task's.
  NextPanels nextPanels(const Rows &rows, const PanelBlock &block, int64_t count, Value behind) {
    Value inBlock = e.less(behind, block.panels.end);
    Value other = e.select(e.less(behind, block.end), behind, tasks.part(4));
    Value nextPanel = e.select(inBlock, behind, e.select(block.isLast, other, block.panels.begin));
    Value nextK = e.select(inBlock, block.firstK, e.select(block.isLast, e.index(0), e.add(block.firstK, block.depth)));
    return NextPanels(c, count, nextPanel, nextK, block.depth, rows.tiles.count);
  }

  const ContractCode c;
  const ContractPlan &plan;
  Emitter &e;
  kernel::TasksOp tasks;
  std::optional<AmxIntegers> amx;  // if it multiplies many rows
  std::optional<Layout> laidOut;   // if these pass unpacked panels
};

struct ExpandContract : talc::impl::ExpandContractBase<ExpandContract> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::ContractOp> contracts;
    getOperation().walk([&](kernel::ContractOp op) { contracts.push_back(op); });
    for (kernel::ContractOp op : contracts) {
      kernel::TasksOp tasks = plannedTasksAround(op);
      if (!tasks)
        return signalPassFailure();
      if (op->hasAttr(kernel::partialSumsAttr)) {
        op.emitOpError("leaves parts of its sums, as graphics cards do; compile from an earlier stage on");
        return signalPassFailure();
      }
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), lanes);
      Contract(emitter, tasks, op).expand();
      op.erase();
      shareAddresses(tasks);
    }
  }

  // Where a vector lies, and what a block of weights has once, is computed anew for each that is loaded; the passes to
  // come are spared that.
  static void shareAddresses(kernel::TasksOp tasks) {
    IRRewriter rewriter(tasks.getContext());
    DominanceInfo dominance(tasks);
    eliminateCommonSubExpressions(rewriter, dominance, tasks);
  }
};

}  // namespace
