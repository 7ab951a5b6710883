// SPDX-License-Identifier: Apache-2.0
// Prefetches by the tiles of a matmul: later parts of their own panels, the panels that come next, and results.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// Prefetches what these panels read `lines` cache lines later, counting the lines of all panels.
TilePrefetch prefetchOwnPanels(const MatmulContext &c, int64_t panels, mlir::Value panel, int64_t lines);

// Prefetches where a tile's results go, and what an epilogue reads there: they lie in other rows than the last tile's.
void prefetchResults(const MatmulContext &c, mlir::OperandRange inputs, int64_t rows, int64_t panels, mlir::Value row,
                     mlir::Value panel);

// Prefetches the weight that comes after a group of panels, spread over the iterations of all tiles of a block of rows.
// A tile prefetches from one panel, for each k of each slice as many elements as that takes, and in an iteration at
// most as many lines as the plan says. A single tile of one slice prefetches the same lines again and again, without a
// branch: it reads in order as fast as memory brings the weight, and hardware prefetchers do better, since L1 can wait
// for few lines that software asks for. Slices skip lines, so hardware prefetchers lose them.
class NextPanelPrefetch {
public:
  using Value = mlir::Value;

  // The panels [panel, + panels) come next with `k` steps from `firstK` on; `tiles` tiles prefetch them. `c` must
  // outlive the object.
  NextPanelPrefetch(const MatmulContext &c, int64_t panels, Value panel, Value firstK, int64_t k, Value tiles);

  // What a tile of so many rows does. Valid as long as the object.
  TilePrefetch forTile(Value tile, int64_t rows) const;
  // Prefetches a tile's share, each line once, before its first k. Where prefetches wait for room, so that none is
  // lost, that leaves the iterations to the products.
  void prefetchShare(Value tile) const;

private:
  // A tile's panel, and the tile's index among those that prefetch from there.
  struct Share {
    Value panel, index;
  };
  Share shareOfTile(Value tile) const;
  Value computePace(int64_t slices) const;

  const MatmulContext &c;
  const int64_t panels, slices, k;  // slices: of a full tile
  const Value panel;
  Value element, hasSeveralTiles, tilesPerPanel, pace;  // pace: elements for each k
};

}  // namespace talc
