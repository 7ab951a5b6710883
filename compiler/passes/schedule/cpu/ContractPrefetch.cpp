// SPDX-License-Identifier: Apache-2.0
// What the tiles of a contraction fetch ahead into cache.
#include "compiler/passes/schedule/cpu/ContractPrefetch.h"

using namespace mlir;

namespace talc {

// One row reads a weight once, and a large one from memory, in as many streams as there are panels. Fetches what comes
// 4 KiB later, counting all, since the processor's own prefetching begins anew at every page.
TileFetch fetchStreams(const ContractCode &c, int64_t panels, Value panel) {
  constexpr int64_t linesAhead = 64;
  Value weight = c.op.getWeight();
  const ContractPlan &plan = c.plan;
  int64_t rowsAhead = std::max<int64_t>(1, linesAhead / panels * plan.lineElements / plan.panelLanes);
  return [&c, &plan, weight, panels, panel, rowsAhead](Value, Value k) {
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t lane = 0; lane < plan.unroll() * plan.panelLanes; lane += plan.lineElements)
        c.e.prefetch(weight, {c.e.add(panel, p), c.e.add(k, rowsAhead), c.e.index(lane)});
  };
}

void fetchResults(const ContractCode &c, int64_t rows, int64_t panels, Value row, Value panel) {
  constexpr int64_t line = 16;
  Value column = c.e.mul(panel, c.plan.panelColumns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t lane = 0; lane < panels * c.plan.panelColumns; lane += line) {
      Emitter::Values at = {c.e.add(row, r), c.e.add(column, lane)};
      c.e.prefetch(c.op.getInit(), at, /*forWriting=*/true);
      for (Value input : c.op.getInputs())
        if (cast<MemRefType>(input.getType()).getRank() == 2)
          c.e.prefetch(input, at);
    }
}

NextPanels::NextPanels(const ContractCode &c, int64_t panels, Value panel, Value firstK, Value tiles)
    : c(c), panels(panels), pieces(c.plan.panelLanes / c.plan.pieceLanes(tileRows)), panel(panel) {
  Emitter &e = c.e;
  element = e.mul(firstK, c.plan.panelLanes);
  perPanel = e.max(e.div(tiles, panels), e.index(1));
  pace = e.ceilDiv(e.index(c.plan.panelLanes), e.mul(perPanel, pieces));
}

TileFetch NextPanels::ofTile(Value tile) const {
  Emitter &e = c.e;
  Value p = e.min(e.div(tile, perPanel), e.index(panels - 1)), turn = e.sub(tile, e.mul(p, perPanel));
  Value at = e.add(panel, p), ofPiece = e.mul(pace, c.plan.depthBlock);
  Value first = e.add(element, e.mul(e.mul(turn, pieces), ofPiece));
  return [this, &e, at, ofPiece, first](Value piece, Value k) {
    Value next = e.add(e.add(first, e.mul(piece, ofPiece)), e.mul(k, pace));
    for (int64_t line = 0; line < 2; ++line)  // so many lie between two iterations if there are few tiles
      e.prefetch(c.op.getWeight(), {at, e.index(0), e.add(next, line * c.plan.lineElements)});
  };
}

}  // namespace talc
