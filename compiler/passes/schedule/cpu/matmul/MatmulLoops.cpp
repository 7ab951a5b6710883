// SPDX-License-Identifier: Apache-2.0
// The loops of a contraction, and the register tiles in them.
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
// Of a weight that takes long to unpack, many rows pass panels that are unpacked once for all of them, 256 k of 64
// columns or 512 of 16 at a time, and sums wait on the stack: levels as bytes, 16 or 8 KiB, stay in L1, widened numbers
// in L2.
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
#include "compiler/passes/schedule/cpu/matmul/MatmulLoops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace talc {

struct MatmulLoops::Rows {
  Value first, count;
  const EvenParts tiles;
  int64_t ofTile;  // at least
};

// `stack`: where sums wait; null: in the result.
struct MatmulLoops::PanelBlock {
  Value begin, end;
  const Panels &all;
  Value stack, firstK, isLast;
  int64_t depth, tileRows;
  DequantizedPanels laidOut;
};

MatmulLoops::MatmulLoops(const MatmulContext &c, int64_t fewRows, bool byAmx)
    : c(c), plan(c.plan), e(c.e), areFew(fewRows > 0), most(areFew ? fewRows : c.plan.fewRows()) {
  if (most > 0)
    sumsOfFew = e.stackBuffer({most, plan.groupPanels(1) * plan.panelLanes});
  if (areFew)
    return;
  int64_t lanes = plan.groupPanels(plan.tileRows) * plan.panelLanes;
  if (!plan.sumsInResult())
    sumsOfMany = e.stackBuffer({plan.blockRows, lanes});
  if (plan.layoutRows > 0 && !byAmx)
    laidOut = makeLayout();
  if (plan.streamRows > 0)
    sumsOfStreams = e.stackBuffer({plan.streamRows, lanes});
  if (byAmx)
    amx.emplace(c);
}

// In sums of others, if these are as many.
MatmulLoops::Layout MatmulLoops::makeLayout() {
  int64_t lanes = plan.groupPanels(plan.layoutTileRows()) * plan.panelLanes;
  int64_t words = plan.products.layout->words(*plan.weightFormat, plan.layoutDepth());
  auto type = MemRefType::get({words, lanes}, e.b.getI32Type());
  Value memory = memref::AllocaOp::create(e.b, e.loc, type, e.b.getI64IntegerAttr(64));
  if (plan.products.layout->keepsOrder(*plan.weightFormat, plan.lanes))
    c.tasks->getParentOfType<func::FuncOp>()->setAttr(kernel::keepsSourceOrderAttr, e.b.getUnitAttr());
  bool same = sumsOfMany && lanes == plan.groupPanels(plan.tileRows) * plan.panelLanes;
  return {{memory}, same ? sumsOfMany : e.stackBuffer({plan.blockRows, lanes})};
}

void MatmulLoops::emit(Value first, Value count, const Panels &panels) {
  if (std::optional<int64_t> known = getConstantIntValue(count); areFew && known)
    return fewRows(first, *known, panels);
  auto few = [&] { e.dispatch(count, 1, most, [&](int64_t n) { fewRows(first, n, panels); }); };
  if (areFew)
    return few();
  e.choose(e.less(count, e.index(most + 1)), few, [&] {
    if (amx)
      return e.choose(
          amx->take(count), [&] { amx->multiply(first, count, panels.begin, panels.end); },
          [&] { streamOrMany(first, count, panels); });
    if (!laidOut)
      return streamOrMany(first, count, panels);
    e.choose(
        e.less(count, e.index(plan.layoutRows)), [&] { streamOrMany(first, count, panels); },
        [&] { laidOutRows(first, count, panels); });
  });
}

// Runs body(panels at a time, first panel). A rest is halved again and again: a tile of one panel has too few chains
// to keep the multiply-adds busy.
void MatmulLoops::eachGroup(int64_t rows, Value begin, Value end, llvm::function_ref<void(int64_t, Value)> body) {
  Value first = begin;
  for (int64_t step = plan.groupPanels(rows); step > 0; step /= 2) {
    Value whole = e.add(first, e.mul(e.div(e.sub(end, first), step), step));
    e.loop(first, whole, step, [&](Value panel) { body(step, panel); });
    first = whole;
  }
}

void MatmulLoops::fewRows(Value first, int64_t rows, const Panels &panels) {
  eachGroup(rows, panels.begin, panels.end, [&](int64_t count, Value panel) {
    bool streams = rows <= plan.fetchRows && plan.fetchAhead > 0;
    TilePrefetch fetch = streams ? prefetchStreams(c, count, panel, plan.fetchAhead) : nullptr;
    StoredSums sums = {sumsOfFew, first, panel};
    MatmulTile{rows, count, e.index(0), panel, e.index(0), plan.depth, fetch, streams}.emit(c, sums);
    c.finish(c, sums, e.index(rows), e.index(count), panel);
  });
}

void MatmulLoops::streamOrMany(Value first, Value count, const Panels &panels) {
  const int64_t ofSeveral = EvenParts::smallest(plan.tileRows + 1, plan.tileRows);
  auto many = [&] {
    // There may be so few that they are one tile.
    Rows rows = {first, count, EvenParts(e, count, plan.tileRows, plan.tallRows), std::min(most + 1, ofSeveral)};
    manyRows(rows, panels, {plan.blockPanels, plan.blockDepth, sumsOfMany, plan.tileRows});
  };
  if (!sumsOfStreams)
    return many();
  Value isTile = e.less(count, e.index(std::max(plan.tileRows, plan.tallRows) + 1));
  e.choose(e.select(isTile, isTile, e.less(e.index(plan.streamRows), count)), many, [&] {
    Rows rows = {first, count, EvenParts(e, count, plan.tileRows), ofSeveral};
    manyRows(rows, panels, {plan.groupPanels(plan.tileRows), plan.streamDepth, sumsOfStreams, plan.tileRows});
  });
}

void MatmulLoops::laidOutRows(Value first, Value count, const Panels &panels) {
  int64_t tile = plan.layoutTileRows();
  Rows rows = {first, count, EvenParts(e, count, tile), EvenParts::smallest(plan.layoutRows, tile)};
  manyRows(rows, panels, {plan.groupPanels(tile), plan.layoutDepth(), laidOut->sums, tile, laidOut->panels});
}

void MatmulLoops::manyRows(const Rows &rows, const Panels &panels, const Blocks &blocks) {
  e.loop(panels.begin, panels.end, blocks.panels, [&](Value begin) {
    Value end = e.min(e.add(begin, blocks.panels), panels.end);
    e.loop(e.index(0), e.index(plan.depth), blocks.depth, [&](Value firstK) {
      Value isLast = e.less(e.index(plan.depth), e.add(firstK, blocks.depth + 1));
      groupsOf(rows, {begin, end, panels, blocks.stack, firstK, isLast, blocks.depth, blocks.tileRows, blocks.laidOut});
    });
  });
}

void MatmulLoops::groupsOf(const Rows &rows, const PanelBlock &block) {
  eachGroup(block.tileRows, block.begin, block.end, [&](int64_t count, Value panel) {
    if (block.laidOut)
      layOutPanels(c, count, panel, block.firstK, block.depth, block.laidOut);
    NextPanelPrefetch next = nextPanels(rows, block, count, e.add(panel, count));
    StoredSums sums = {block.stack, rows.first, block.depth < plan.depth ? block.begin : panel};
    auto tile = [&](Value t, Value row, int64_t n) {
      fetchResultsOf(block, n, count, e.add(rows.first, row), panel);
      TilePrefetch fetch = fetchOf(n, t, next, block, count, panel);
      MatmulTile{n, count, row, panel, block.firstK, block.depth, fetch, /*streams=*/false, block.laidOut, panel}.emit(
          c, sums);
    };
    rows.tiles.each(e, tile, rows.ofTile);
    e.when(block.isLast, [&] { c.finish(c, sums, rows.count, e.index(count), panel); });
  });
}

// An epilogue reads and writes them after the last k.
void MatmulLoops::fetchResultsOf(const PanelBlock &block, int64_t rows, int64_t panels, Value row, Value panel) {
  if (!c.prefetchResults)
    return;
  auto fetch = [&] { c.prefetchResults(c, rows, panels, row, panel); };
  if (block.stack && block.depth < plan.depth)
    return e.when(block.isLast, fetch);
  fetch();
}

// What comes next; and the first tile of a task, for which nobody fetched, its own panels. Unpacked ones are there.
// Into L1 fetches may be dropped, so that all iterations repeat them.
TilePrefetch MatmulLoops::fetchOf(int64_t rows, Value tile, const NextPanelPrefetch &next, const PanelBlock &block,
                                  int64_t panels, Value panel) {
  if (block.laidOut && plan.fetchLevel > 1 && plan.products.layout->fetchesShares(plan.lanes)) {
    next.fetchShare(tile);
    return nullptr;
  }
  TilePrefetch later = next.ofTile(tile, rows);
  if (plan.fetchFirst == 0)
    return later;
  Value place = e.add(e.add(tile, block.firstK), e.sub(panel, block.all.begin)), isFirst = e.less(place, e.index(1));
  TilePrefetch own = prefetchStreams(c, panels, panel, plan.fetchFirst);
  return [this, isFirst, own, later](Value piece, Value k, PrefetchSlot turn) {
    e.when(isFirst, [&] { own(piece, k, turn); });
    if (later)
      later(piece, k, turn);
  };
}

// The group behind this one comes next, or the block's first one with the next k, or another task's.
NextPanelPrefetch MatmulLoops::nextPanels(const Rows &rows, const PanelBlock &block, int64_t count, Value behind) {
  Value inBlock = e.less(behind, block.end);
  Value other = e.select(e.less(behind, block.all.end), behind, block.all.next);
  Value nextPanel = e.select(inBlock, behind, e.select(block.isLast, other, block.begin));
  Value nextK = e.select(inBlock, block.firstK, e.select(block.isLast, e.index(0), e.add(block.firstK, block.depth)));
  return NextPanelPrefetch(c, count, nextPanel, nextK, block.depth, rows.tiles.count);
}

void shareAddresses(kernel::TasksOp tasks) {
  IRRewriter rewriter(tasks.getContext());
  DominanceInfo dominance(tasks);
  eliminateCommonSubExpressions(rewriter, dominance, tasks);
}

}  // namespace talc
