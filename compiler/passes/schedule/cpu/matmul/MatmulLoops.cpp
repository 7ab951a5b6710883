// SPDX-License-Identifier: Apache-2.0
// The loops of a matmul, and the register tiles in them.
//
//   for each block of panels                         (the task's rows and their sums stay in L2)
//     for each block of k
//       for each group of panels                     (its part stays in cache while the rows pass)
//         for each tile of rows                      (rows are split evenly into as few tiles as possible)
//           accumulators; for k: the group's vectors, a broadcast per row, a multiply-add for each pair
//           on the way the tiles prefetch the weight that comes next
//           store the sums
//         after the last k, row by row: epilogue, store
//
// If a weight takes long to dequantize, many rows pass panels that are dequantized once for all of them, 256 k of 64
// columns or 512 of 16 at a time, and sums wait on the stack: codes as bytes, 16 or 8 KiB, stay in L1, f32 values in
// L2.
//
//                    k block 0    k block 1          one block of panels, two groups; tiles 0 to 3 of a block of rows
//   panels 0-3      0 1 2 3  ->  8 9 ...             take group 0, then tiles 4 to 7 take group 1, then the next k
//   panels 4-7      4 5 6 7  ->
//
// A group of panels fills the accumulators (tile_columns). With few rows a group has more columns, so that the
// multiply-adds still overlap. Sums are stored, so that the code of an epilogue exists once and not for every shape of
// a tile, and so that k can be split: a chain goes on where it stopped. If k is split, sums wait in the result itself,
// which has room for many groups; where that is not possible (gated, or a last panel that is not full) they wait on the
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
  int64_t minTileRows;
};

// `stack`: where sums wait; null: in the result.
struct MatmulLoops::PanelBlock {
  Value begin, end;
  const Panels &all;
  Value stack, firstK, isLast;
  int64_t k, tileRows;
  DequantizedPanels dequantized;
};

MatmulLoops::MatmulLoops(const MatmulContext &c, int64_t fewRows, bool useAmx)
    : c(c), plan(c.plan), t(c.plan.tunables), e(c.e), areFew(fewRows > 0),
      maxFewRows(areFew ? fewRows : c.plan.maxFewRows()) {
  if (maxFewRows > 0)
    fewRowSums = e.stackBuffer({maxFewRows, plan.widestGroupLanes(maxFewRows)});
  if (areFew)
    return;
  int64_t lanes = plan.groupLanes(t.tileRows);
  if (!plan.sumsWaitInResult())
    manyRowSums = e.stackBuffer({t.blockRows, lanes});
  if (t.dequantizeRows > 0 && !useAmx)
    dequantized = allocateDequantized();
  if (t.streamRows > 0)
    streamSums = e.stackBuffer({t.streamRows, lanes});
  if (useAmx)
    amx.emplace(c);
}

// The sums share the memory of other rows' sums, if these are as many.
MatmulLoops::DequantizedBlock MatmulLoops::allocateDequantized() {
  int64_t lanes = plan.groupLanes(plan.dequantizedTileRows());
  auto type = MemRefType::get({plan.microkernel->dequantizedWords(plan.dequantizedK()), lanes}, e.b.getI32Type());
  Value memory = memref::AllocaOp::create(e.b, e.loc, type, e.b.getI64IntegerAttr(64));
  if (plan.microkernel->keepsSourceOrder())
    c.tasks->getParentOfType<func::FuncOp>()->setAttr(kernel::keepsSourceOrderAttr, e.b.getUnitAttr());
  bool isShared = manyRowSums && lanes == plan.groupLanes(t.tileRows);
  return {{memory}, isShared ? manyRowSums : e.stackBuffer({t.blockRows, lanes})};
}

void MatmulLoops::emit(Value first, Value count, const Panels &panels) {
  if (std::optional<int64_t> staticCount = getConstantIntValue(count); areFew && staticCount)
    return emitFewRows(first, *staticCount, panels);
  auto emitFew = [&] { e.dispatch(count, 1, maxFewRows, [&](int64_t n) { emitFewRows(first, n, panels); }); };
  if (areFew)
    return emitFew();
  e.choose(e.less(count, e.index(maxFewRows + 1)), emitFew, [&] {
    if (amx)
      return e.choose(
          amx->takesRows(count), [&] { amx->multiply(first, count, panels.begin, panels.end); },
          [&] { emitRowsFromMemory(first, count, panels); });
    if (!dequantized)
      return emitRowsFromMemory(first, count, panels);
    e.choose(
        e.less(count, e.index(t.dequantizeRows)), [&] { emitRowsFromMemory(first, count, panels); },
        [&] { emitDequantizedRows(first, count, panels); });
  });
}

// Runs body(panels at a time, first panel). The remainder is halved again and again: a tile of one panel has too few
// accumulators to keep the multiply-adds busy.
void MatmulLoops::forEachGroup(int64_t rows, Value begin, Value end, llvm::function_ref<void(int64_t, Value)> body) {
  Value first = begin;
  for (int64_t step = plan.groupPanels(rows); step > 0; step /= 2) {
    Value groupsEnd = e.add(first, e.mul(e.div(e.sub(end, first), step), step));
    e.loop(first, groupsEnd, step, [&](Value panel) { body(step, panel); });
    first = groupsEnd;
  }
}

void MatmulLoops::emitFewRows(Value first, int64_t rows, const Panels &panels) {
  forEachGroup(rows, panels.begin, panels.end, [&](int64_t count, Value panel) {
    bool prefetches = rows <= t.prefetchRows && t.prefetchAhead > 0;
    TilePrefetch prefetch = prefetches ? prefetchOwnPanels(c, count, panel, t.prefetchAhead) : nullptr;
    StoredSums sums = {fewRowSums, first, panel};
    MatmulTile{rows, count, e.index(0), panel, e.index(0), plan.shape.k, prefetch, prefetches}.emit(c, sums);
    c.finish(c, sums, e.index(rows), e.index(count), panel);
  });
}

// Rows that read the weight itself: as streams, if the plan says so and they are more than a tile.
void MatmulLoops::emitRowsFromMemory(Value first, Value count, const Panels &panels) {
  const int64_t minSplitRows = EvenParts::smallest(t.tileRows + 1, t.tileRows);
  auto emitBlocked = [&] {
    // There may be so few that they are one tile.
    Rows rows = {first, count, EvenParts(e, count, t.tileRows, t.tallRows), std::min(maxFewRows + 1, minSplitRows)};
    emitBlocks(rows, panels, {t.blockPanels, t.blockK, manyRowSums, t.tileRows});
  };
  if (!streamSums)
    return emitBlocked();
  Value isTile = e.less(count, e.index(std::max(t.tileRows, t.tallRows) + 1));
  e.choose(e.select(isTile, isTile, e.less(e.index(t.streamRows), count)), emitBlocked, [&] {
    Rows rows = {first, count, EvenParts(e, count, t.tileRows), minSplitRows};
    emitBlocks(rows, panels, {plan.groupPanels(t.tileRows), t.streamK, streamSums, t.tileRows});
  });
}

void MatmulLoops::emitDequantizedRows(Value first, Value count, const Panels &panels) {
  int64_t tile = plan.dequantizedTileRows();
  Rows rows = {first, count, EvenParts(e, count, tile), EvenParts::smallest(t.dequantizeRows, tile)};
  emitBlocks(rows, panels, {plan.groupPanels(tile), plan.dequantizedK(), dequantized->sums, tile, dequantized->panels});
}

void MatmulLoops::emitBlocks(const Rows &rows, const Panels &panels, const Blocks &blocks) {
  requireWholeSteps(plan.shape.k, blocks.k, "the k of a matmul");
  e.loop(panels.begin, panels.end, blocks.panels, [&](Value begin) {
    Value end = e.min(e.add(begin, blocks.panels), panels.end);
    e.loop(e.index(0), e.index(plan.shape.k), blocks.k, [&](Value firstK) {
      Value isLast = e.less(e.index(plan.shape.k), e.add(firstK, blocks.k + 1));
      emitGroups(rows,
                 {begin, end, panels, blocks.stack, firstK, isLast, blocks.k, blocks.tileRows, blocks.dequantized});
    });
  });
}

void MatmulLoops::emitGroups(const Rows &rows, const PanelBlock &block) {
  forEachGroup(block.tileRows, block.begin, block.end, [&](int64_t count, Value panel) {
    if (block.dequantized)
      dequantizePanels(c, count, panel, block.firstK, block.k, block.dequantized);
    NextPanelPrefetch next = nextPanels(rows, block, count, e.add(panel, count));
    StoredSums sums = {block.stack, rows.first, block.k < plan.shape.k ? block.begin : panel};
    auto emitTile = [&](Value tile, Value row, int64_t n) {
      prefetchResultsOfTile(block, n, count, e.add(rows.first, row), panel);
      TilePrefetch prefetch = makeTilePrefetch(n, tile, next, block, count, panel);
      MatmulTile{
          n,    count, row, panel, block.firstK, block.k, prefetch, /*prefetchesOwnPanels=*/false, block.dequantized,
          panel}
          .emit(c, sums);
    };
    rows.tiles.each(e, emitTile, rows.minTileRows);
    e.when(block.isLast, [&] { c.finish(c, sums, rows.count, e.index(count), panel); });
  });
}

// An epilogue reads and writes them after the last k.
void MatmulLoops::prefetchResultsOfTile(const PanelBlock &block, int64_t rows, int64_t panels, Value row, Value panel) {
  if (!c.prefetchResults)
    return;
  auto prefetch = [&] { c.prefetchResults(c, rows, panels, row, panel); };
  if (block.stack && block.k < plan.shape.k)
    return e.when(block.isLast, prefetch);
  prefetch();
}

// A tile prefetches the next panels; the first tile of a task also its own, since no tile before it did. Dequantized
// panels are in cache already. Prefetches into L1 may be dropped, so that all iterations repeat them.
TilePrefetch MatmulLoops::makeTilePrefetch(int64_t rows, Value tile, const NextPanelPrefetch &next,
                                           const PanelBlock &block, int64_t panels, Value panel) {
  if (block.dequantized && t.prefetchLevel > 1 && plan.microkernel->prefetchesSharesFirst()) {
    next.prefetchShare(tile);
    return nullptr;
  }
  TilePrefetch later = next.forTile(tile, rows);
  if (t.prefetchFirst == 0)
    return later;
  Value distance = e.add(e.add(tile, block.firstK), e.sub(panel, block.all.begin));
  Value isFirst = e.less(distance, e.index(1));
  TilePrefetch own = prefetchOwnPanels(c, panels, panel, t.prefetchFirst);
  return [this, isFirst, own, later](Value slice, Value k, PrefetchSlot slot) {
    e.when(isFirst, [&] { own(slice, k, slot); });
    if (later)
      later(slice, k, slot);
  };
}

// The next group is the one after this, or the block's first one with the next k, or that of another task.
NextPanelPrefetch MatmulLoops::nextPanels(const Rows &rows, const PanelBlock &block, int64_t count, Value after) {
  Value inBlock = e.less(after, block.end);
  Value other = e.select(e.less(after, block.all.end), after, block.all.next);
  Value nextPanel = e.select(inBlock, after, e.select(block.isLast, other, block.begin));
  Value nextK = e.select(inBlock, block.firstK, e.select(block.isLast, e.index(0), e.add(block.firstK, block.k)));
  return NextPanelPrefetch(c, count, nextPanel, nextK, block.k, rows.tiles.count);
}

void eliminateCommonAddresses(kernel::TasksOp tasks) {
  IRRewriter rewriter(tasks.getContext());
  DominanceInfo dominance(tasks);
  eliminateCommonSubExpressions(rewriter, dominance, tasks);
}

}  // namespace talc
