// SPDX-License-Identifier: Apache-2.0
// What the tiles of a contraction fetch ahead into cache.
#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

using namespace mlir;

namespace talc {

// One row reads a weight once, and a large one from memory, in as many streams as there are panels. The processor's own
// prefetching begins anew at every page.
TilePrefetch prefetchStreams(const MatmulContext &c, int64_t panels, Value panel, int64_t lines) {
  Value weight = c.weight;
  const MatmulPlan &plan = c.plan;
  const StorageFormat &format = elementFormat(cast<ShapedType>(weight.getType()));
  int64_t rowsAhead = lines / panels * cacheLineBytes * format.blockValues / (format.blockBytes * plan.panelLanes);
  rowsAhead = std::max<int64_t>(rowsAhead, 1);
  int64_t bytes = format.byteSize(plan.tileSteps * plan.panelLanes);
  int64_t ofPanel = llvm::divideCeil(bytes, cacheLineBytes), all = panels * ofPanel;
  return [&c, weight, panel, rowsAhead, ofPanel, all](Value, Value k, PrefetchSlot turn) {
    for (int64_t i = all * turn.number / turn.count; i < all * (turn.number + 1) / turn.count; ++i) {
      Emitter::Values at = {c.e.add(panel, i / ofPanel), c.e.add(k, rowsAhead), c.e.index(0)};
      c.e.prefetchLine(weight, at, i % ofPanel, c.plan.fetchLevel);
    }
  };
}

void prefetchResults(const MatmulContext &c, OperandRange inputs, int64_t rows, int64_t panels, Value row,
                     Value panel) {
  constexpr int64_t line = 16;
  Value column = c.e.mul(panel, c.plan.panelColumns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t lane = 0; lane < panels * c.plan.panelColumns; lane += line) {
      Emitter::Values at = {c.e.add(row, r), c.e.add(column, lane)};
      c.e.prefetch(c.result, at, /*level=*/2, /*forWriting=*/true);
      for (Value input : inputs)
        if (cast<MemRefType>(input.getType()).getRank() == 2)
          c.e.prefetch(input, at);
    }
}

NextPanelPrefetch::NextPanelPrefetch(const MatmulContext &c, int64_t panels, Value panel, Value firstK, int64_t depth,
                                     Value tiles)
    : c(c), panels(panels), pieces(c.plan.panelLanes / c.plan.pieceLanes(c.plan.tileRows)), depth(depth), panel(panel) {
  Emitter &e = c.e;
  element = e.mul(firstK, c.plan.panelLanes);
  several = e.less(e.index(1), tiles);
  perPanel = e.max(e.div(tiles, panels), e.index(1));
  pace = paceOf(pieces);
}

Value NextPanelPrefetch::paceOf(int64_t pieces) const {
  Emitter &e = c.e;
  Value pace = e.ceilDiv(e.index(c.plan.panelLanes), e.mul(perPanel, pieces));
  return pieces > 1 ? pace : e.select(several, pace, e.index(0));
}

// Of an iteration: the first two of at most so many lines, and if more lie between it and the next, an eighth, a
// quarter, a half of them or all: what is fetched again costs time, too. The branches go the same way all the time.
static void eachLine(const MatmulContext &c, int64_t most, Value between, llvm::function_ref<void(int64_t)> body) {
  SmallVector<int64_t> levels;
  for (int64_t level = most; level > 2; level = llvm::divideCeil(level, 2))
    levels.push_back(level);
  std::function<void(int64_t, int64_t)> upTo = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      body(i);
    if (!levels.empty())
      c.e.when(c.e.less(c.e.index(to * c.plan.lineElements), between), [&] { upTo(to, levels.pop_back_val()); });
  };
  upTo(0, std::min<int64_t>(most, 2));
}

TilePrefetch NextPanelPrefetch::ofTile(Value tile, int64_t rows) const {
  Emitter &e = c.e;
  int64_t pieces = c.plan.panelLanes / c.plan.pieceLanes(rows);
  // If the tile is alone.
  int64_t most = llvm::divideCeil(panels * c.plan.panelLanes * c.plan.tileSteps, pieces * c.plan.lineElements);
  most = std::min(most, c.plan.fetchNext);
  if (most == 0)
    return nullptr;
  Value pace = pieces == this->pieces ? this->pace : paceOf(pieces);
  Share share = shareOf(tile);
  Value ofPiece = e.mul(pace, depth);
  Value first = e.add(element, e.mul(e.mul(share.number, pieces), ofPiece));
  Value between = most > 2 ? e.mul(pace, c.plan.tileSteps) : Value();
  return [this, &e, most, at = share.panel, pace, ofPiece, first, between](Value piece, Value k, PrefetchSlot turn) {
    if (turn.number > 0)
      return;
    Value next = e.add(e.add(first, e.mul(piece, ofPiece)), e.mul(k, pace));
    eachLine(c, most, between, [&](int64_t line) {
      e.prefetch(c.weight, {at, e.index(0), e.add(next, line * c.plan.lineElements)}, c.plan.fetchLevel);
    });
  };
}

NextPanelPrefetch::Share NextPanelPrefetch::shareOf(Value tile) const {
  Emitter &e = c.e;
  Value p = e.min(e.div(tile, perPanel), e.index(panels - 1)), number = e.sub(tile, e.mul(p, perPanel));
  return {e.add(panel, p), number};
}

void NextPanelPrefetch::fetchShare(Value tile) const {
  if (c.plan.fetchNext == 0)
    return;
  Emitter &e = c.e;
  Value lines = e.index(llvm::divideCeil(c.plan.panelLanes * depth, c.plan.lineElements));
  Share share = shareOf(tile);
  Value count = e.ceilDiv(lines, perPanel), begin = e.mul(share.number, count);
  e.loop(begin, e.min(e.add(begin, count), lines), 1, [&](Value line) {
    Value at[] = {share.panel, e.index(0), e.add(element, e.mul(line, c.plan.lineElements))};
    e.prefetch(c.weight, at, c.plan.fetchLevel);
  });
}

}  // namespace talc
