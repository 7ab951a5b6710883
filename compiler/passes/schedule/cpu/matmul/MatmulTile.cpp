// SPDX-License-Identifier: Apache-2.0
// A tile of a matmul goes slice by slice; each slice is a register tile whose sums come from memory and go back there.
//
//   a panel of 64 lanes with vectors of 8:   | slice 0 | slice 1 | slice 2 | slice 3 |     16 lanes each
//
// A panel that is too wide for the accumulators, packed for wider vectors, is taken in slices; a slice has the same
// lanes of every panel of the group.
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

using namespace mlir;

namespace talc {

namespace {

// The lanes [index * sliceLanes, + sliceLanes) of every panel.
class TileSlice {
public:
  TileSlice(const MatmulContext &c, const MatmulTile &tile, const StoredSums &sums, Value index)
      : c(c), e(c.e), tile(tile), sums(sums), index(index), vectorsPerPanel(c.plan.sliceLanes(tile.rows) / c.e.lanes),
        vectors(tile.panels * vectorsPerPanel), firstLane(c.e.mul(index, c.plan.sliceLanes(tile.rows))) {
    Value first = e.add(sums.firstRow, tile.row);
    for (int64_t r = 0; r < tile.rows; ++r) {
      rows.push_back(e.add(first, r));
      sumRows.push_back(sums.stack ? e.add(tile.row, r) : rows.back());
    }
    for (int64_t p = 0; p < tile.panels; ++p)
      panels.push_back(e.add(tile.panel, p));
    for (int64_t v = 0; v < vectors; ++v)
      sumColumns.push_back(e.add(sums.column(c, panels[v / vectorsPerPanel]), laneOfVector(v)));
  }

  void emit() {
    const MatmulShape &shape = c.plan.shape;
    Value firstFeature = tile.firstK;
    if (shape.groups > 1)
      firstFeature = e.add(firstFeature, e.mul(shape.groupIndex(e, tile.panel), shape.groupFeatures));
    TileOperands operands = {{}, {}, {}, {}, tile.firstK, tile.k, nullptr, tile.prefetchesOwnPanels};
    for (Value row : rows) {
      RowAddress address = c.rowAddress ? c.rowAddress(row) : RowAddress{row, {}};
      operands.rows.push_back(address.row);
      operands.features.push_back(address.feature ? e.add(firstFeature, address.feature) : firstFeature);
    }
    for (int64_t v = 0; v < vectors; ++v) {
      Value panel = panels[v / vectorsPerPanel];
      operands.panels.push_back(panel);
      operands.lanes.push_back(laneOfVector(v));
      if (tile.dequantized)
        operands.dequantizedLanes.push_back(
            e.add(e.mul(e.sub(panel, tile.dequantizedPanel), shape.panelLanes), laneOfVector(v)));
    }
    operands.dequantized = tile.dequantized;
    if (tile.prefetch)
      operands.prefetch = [&](Value k, PrefetchSlot slot) { tile.prefetch(index, k, slot); };
    std::vector<TileAccumulators::Address> addresses;
    for (int64_t i = 0; i < tile.rows * vectors; ++i)
      addresses.push_back({sumRows[i / vectors], sumColumns[i % vectors]});
    // A tile that takes all of k begins with the first one.
    Value firstK = tile.k < shape.k ? tile.firstK : e.index(0);
    c.plan.microkernel->multiply(c, operands, TileAccumulators(e, sums.memory(c), std::move(addresses), firstK));
  }

private:
  Value laneOfVector(int64_t vector) { return e.add(firstLane, vector % vectorsPerPanel * e.lanes); }

  const MatmulContext &c;
  Emitter &e;
  const MatmulTile &tile;
  const StoredSums &sums;
  const Value index;
  const int64_t vectorsPerPanel, vectors;
  const Value firstLane;
  Emitter::Values rows, panels, sumRows, sumColumns;
};

}  // namespace

void MatmulTile::emit(const MatmulContext &c, const StoredSums &sums) const {
  int64_t slices = c.plan.slicesPerPanel(rows);
  requireWholeSteps(c.plan.shape.panelLanes, c.plan.sliceLanes(rows), "the lanes of a panel");
  requireWholeSteps(c.plan.sliceLanes(rows), c.e.lanes, "the lanes of a slice");
  if (slices == 1)
    return TileSlice(c, *this, sums, c.e.index(0)).emit();
  c.e.loop(c.e.index(0), c.e.index(slices), 1, [&](Value slice) { TileSlice(c, *this, sums, slice).emit(); });
}

void dequantizePanels(const MatmulContext &c, int64_t panels, Value panel, Value firstK, int64_t k,
                      DequantizedPanels to) {
  Emitter &e = c.e;
  const int64_t panelLanes = c.plan.shape.panelLanes;
  for (int64_t p = 0; p < panels; ++p)
    e.loop(e.index(0), e.index(panelLanes), e.lanes, [&](Value lane) {
      TileOperands operands = {{}, {}, {e.add(panel, p)}, {lane}, firstK, k, nullptr, /*prefetchesOwnPanels=*/false};
      operands.dequantized = to;
      operands.dequantizedLanes = {e.add(lane, p * panelLanes)};
      c.plan.microkernel->dequantize(c, operands);
    });
}

}  // namespace talc
