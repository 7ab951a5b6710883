// SPDX-License-Identifier: Apache-2.0
// A tile of a contraction: its pieces, each a register tile whose sums come from memory and go back there.
//
//   a panel of 64 lanes with vectors of 8:   | piece 0 | piece 1 | piece 2 | piece 3 |     16 lanes each
//
// A panel that is too wide for the accumulators, packed for wider vectors, is taken piece by piece; a piece takes the
// same lanes of every panel of the group.
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

using namespace mlir;

namespace talc {

namespace {

// One piece: the lanes [piece * pieceLanes, + pieceLanes) of every panel.
class Piece {
public:
  Piece(const MatmulContext &c, const MatmulTile &tile, const StoredSums &sums, Value number)
      : c(c), e(c.e), tile(tile), sums(sums), number(number), perPanel(c.plan.pieceLanes(tile.rows) / c.e.lanes),
        vectors(tile.panels * perPanel), firstLane(c.e.mul(number, c.plan.pieceLanes(tile.rows))) {
    Value first = e.add(sums.firstRow, tile.row);
    for (int64_t r = 0; r < tile.rows; ++r) {
      rowAt.push_back(e.add(first, r));
      sumRows.push_back(sums.stack ? e.add(tile.row, r) : rowAt.back());
    }
    for (int64_t p = 0; p < tile.panels; ++p)
      panelAt.push_back(e.add(tile.panel, p));
    for (int64_t v = 0; v < vectors; ++v)
      sumColumns.push_back(e.add(sums.column(c, panelAt[v / perPanel]), laneOf(v)));
  }

  void emit() {
    Value firstFeature = tile.firstK;
    if (c.plan.groups > 1)
      firstFeature = e.add(firstFeature, e.mul(c.plan.groupOf(e, tile.panel), c.plan.groupFeatures));
    TileOperands places = {{}, {}, {}, {}, tile.firstK, tile.depth, nullptr, tile.streams};
    for (Value row : rowAt) {
      RowAddress place = c.placeOf ? c.placeOf(row) : RowAddress{row, {}};
      places.rows.push_back(place.row);
      places.features.push_back(place.feature ? e.add(firstFeature, place.feature) : firstFeature);
    }
    for (int64_t v = 0; v < vectors; ++v) {
      places.panels.push_back(panelAt[v / perPanel]);
      places.lanes.push_back(laneOf(v));
      if (tile.laidOut)
        places.laidOutLanes.push_back(
            e.add(e.mul(e.sub(panelAt[v / perPanel], tile.laidOutPanel), c.plan.panelLanes), laneOf(v)));
    }
    places.laidOut = tile.laidOut;
    if (tile.fetch)
      places.fetch = [&](Value k, PrefetchSlot turn) { tile.fetch(number, k, turn); };
    std::vector<TileAccumulators::Place> sumPlaces;
    for (int64_t i = 0; i < tile.rows * vectors; ++i)
      sumPlaces.push_back({sumRows[i / vectors], sumColumns[i % vectors]});
    // A tile that takes all of k begins with the first one.
    Value firstK = tile.depth < c.plan.depth ? tile.firstK : e.index(0);
    c.plan.products.multiply(c, places, TileAccumulators(e, sums.memory(c), std::move(sumPlaces), firstK));
  }

private:
  Value laneOf(int64_t vector) { return e.add(firstLane, vector % perPanel * e.lanes); }

  const MatmulContext &c;
  Emitter &e;
  const MatmulTile &tile;
  const StoredSums &sums;
  const Value number;
  const int64_t perPanel, vectors;  // of a panel; of the piece
  const Value firstLane;
  Emitter::Values rowAt, panelAt, sumRows, sumColumns;
};

}  // namespace

void MatmulTile::emit(const MatmulContext &c, const StoredSums &sums) const {
  int64_t lanes = c.plan.pieceLanes(rows);
  if (lanes == c.plan.panelLanes)
    return Piece(c, *this, sums, c.e.index(0)).emit();
  c.e.loop(c.e.index(0), c.e.index(c.plan.panelLanes / lanes), 1,
           [&](Value piece) { Piece(c, *this, sums, piece).emit(); });
}

void layOutPanels(const MatmulContext &c, int64_t panels, Value panel, Value firstK, int64_t depth,
                  DequantizedPanels to) {
  Emitter &e = c.e;
  for (int64_t p = 0; p < panels; ++p)
    e.loop(e.index(0), e.index(c.plan.panelLanes), e.lanes, [&](Value lane) {
      TileOperands places = {{}, {}, {e.add(panel, p)}, {lane}, firstK, depth, nullptr, /*streams=*/false};
      places.laidOut = to;
      places.laidOutLanes = {e.add(lane, p * c.plan.panelLanes)};
      c.plan.products.layout->layOut(c, places);
    });
}

}  // namespace talc
