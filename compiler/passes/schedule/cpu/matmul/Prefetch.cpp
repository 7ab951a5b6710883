// SPDX-License-Identifier: Apache-2.0
// Prefetches by the tiles of a matmul.
#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

using namespace mlir;

namespace talc {

// One row reads a weight once, and a large one from memory, in as many streams as there are panels. Hardware
// prefetchers begin anew at every page.
TilePrefetch prefetchOwnPanels(const MatmulContext &c, int64_t panels, Value panel, int64_t lines) {
  Value weight = c.weight;
  const MatmulShape &shape = c.plan.shape;
  const StorageFormat &format = *shape.weightFormat;
  int64_t kAhead = lines / panels * cacheLineBytes * format.blockValues / (format.blockBytes * shape.panelLanes);
  kAhead = std::max<int64_t>(kAhead, 1);
  int64_t bytes = format.byteSize(c.plan.tunables.unroll * shape.panelLanes);
  int64_t panelLines = llvm::divideCeil(bytes, cacheLineBytes), all = panels * panelLines;
  return [&c, weight, panel, kAhead, panelLines, all](Value, Value k, PrefetchSlot slot) {
    for (int64_t i = all * slot.index / slot.count; i < all * (slot.index + 1) / slot.count; ++i) {
      Emitter::Values at = {c.e.add(panel, i / panelLines), c.e.add(k, kAhead), c.e.index(0)};
      c.e.prefetchLine(weight, at, i % panelLines, c.plan.tunables.prefetchLevel);
    }
  };
}

void prefetchResults(const MatmulContext &c, OperandRange inputs, int64_t rows, int64_t panels, Value row,
                     Value panel) {
  constexpr int64_t lineColumns = 16;
  const int64_t panelColumns = c.plan.shape.panelColumns;
  Value column = c.e.mul(panel, panelColumns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t lane = 0; lane < panels * panelColumns; lane += lineColumns) {
      Emitter::Values at = {c.e.add(row, r), c.e.add(column, lane)};
      c.e.prefetch(c.result, at, /*level=*/2, /*forWriting=*/true);
      for (Value input : inputs)
        if (cast<MemRefType>(input.getType()).getRank() == 2)
          c.e.prefetch(input, at);
    }
}

NextPanelPrefetch::NextPanelPrefetch(const MatmulContext &c, int64_t panels, Value panel, Value firstK, int64_t k,
                                     Value tiles)
    : c(c), panels(panels), slices(c.plan.slicesPerPanel(c.plan.tunables.tileRows)), k(k), panel(panel) {
  Emitter &e = c.e;
  element = e.mul(firstK, c.plan.shape.panelLanes);
  hasSeveralTiles = e.less(e.index(1), tiles);
  tilesPerPanel = e.max(e.div(tiles, panels), e.index(1));
  pace = computePace(slices);
}

Value NextPanelPrefetch::computePace(int64_t slices) const {
  Emitter &e = c.e;
  Value pace = e.ceilDiv(e.index(c.plan.shape.panelLanes), e.mul(tilesPerPanel, slices));
  return slices > 1 ? pace : e.select(hasSeveralTiles, pace, e.index(0));
}

// The first two lines of an iteration, of at most `maxLines`, and if more lie between it and the next, an eighth, a
// quarter, a half of them or all: prefetching a line again costs time, too. The branches go the same way all the time.
static void forEachLine(const MatmulContext &c, int64_t maxLines, Value between,
                        llvm::function_ref<void(int64_t)> body) {
  SmallVector<int64_t> limits;
  for (int64_t limit = maxLines; limit > 2; limit = llvm::divideCeil(limit, 2))
    limits.push_back(limit);
  std::function<void(int64_t, int64_t)> emitLines = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      body(i);
    if (!limits.empty())
      c.e.when(c.e.less(c.e.index(to * c.plan.shape.lineElements), between),
               [&] { emitLines(to, limits.pop_back_val()); });
  };
  emitLines(0, std::min<int64_t>(maxLines, 2));
}

TilePrefetch NextPanelPrefetch::forTile(Value tile, int64_t rows) const {
  Emitter &e = c.e;
  const int64_t unroll = c.plan.tunables.unroll, lineElements = c.plan.shape.lineElements;
  int64_t slices = c.plan.slicesPerPanel(rows);
  // If the tile is alone.
  int64_t maxLines = llvm::divideCeil(panels * c.plan.shape.panelLanes * unroll, slices * lineElements);
  maxLines = std::min(maxLines, c.plan.tunables.prefetchNext);
  if (maxLines == 0)
    return nullptr;
  Value pace = slices == this->slices ? this->pace : computePace(slices);
  Share share = shareOfTile(tile);
  Value sliceElements = e.mul(pace, k);
  Value first = e.add(element, e.mul(e.mul(share.index, slices), sliceElements));
  Value between = maxLines > 2 ? e.mul(pace, unroll) : Value();
  return [this, &e, maxLines, panel = share.panel, pace, sliceElements, first, between](Value slice, Value k,
                                                                                        PrefetchSlot slot) {
    if (slot.index > 0)
      return;
    Value next = e.add(e.add(first, e.mul(slice, sliceElements)), e.mul(k, pace));
    forEachLine(c, maxLines, between, [&](int64_t line) {
      e.prefetch(c.weight, {panel, e.index(0), e.add(next, line * c.plan.shape.lineElements)},
                 c.plan.tunables.prefetchLevel);
    });
  };
}

NextPanelPrefetch::Share NextPanelPrefetch::shareOfTile(Value tile) const {
  Emitter &e = c.e;
  Value p = e.min(e.div(tile, tilesPerPanel), e.index(panels - 1)), index = e.sub(tile, e.mul(p, tilesPerPanel));
  return {e.add(panel, p), index};
}

void NextPanelPrefetch::prefetchShare(Value tile) const {
  if (c.plan.tunables.prefetchNext == 0)
    return;
  Emitter &e = c.e;
  const MatmulShape &shape = c.plan.shape;
  Value lines = e.index(llvm::divideCeil(shape.panelLanes * k, shape.lineElements));
  Share share = shareOfTile(tile);
  Value count = e.ceilDiv(lines, tilesPerPanel), begin = e.mul(share.index, count);
  e.loop(begin, e.min(e.add(begin, count), lines), 1, [&](Value line) {
    Value at[] = {share.panel, e.index(0), e.add(element, e.mul(line, shape.lineElements))};
    e.prefetch(c.weight, at, c.plan.tunables.prefetchLevel);
  });
}

}  // namespace talc
