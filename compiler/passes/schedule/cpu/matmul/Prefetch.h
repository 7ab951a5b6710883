// SPDX-License-Identifier: Apache-2.0
// What the tiles of a contraction fetch ahead into cache.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// What the streams of these panels read `lines` later, counting all.
TilePrefetch prefetchStreams(const MatmulContext &c, int64_t panels, mlir::Value panel, int64_t lines);

// The places of a tile's results, and what an epilogue reads there: they lie in other rows than the last tile's.
void prefetchResults(const MatmulContext &c, mlir::OperandRange inputs, int64_t rows, int64_t panels, mlir::Value row,
                     mlir::Value panel);

// The weight that comes after a group of panels, spread over the iterations of all tiles of a block of rows. A tile
// fetches from one panel, for each k of each piece as many elements as that takes, and in an iteration no more lines
// than the plan says. A single tile of one piece fetches the same lines again and again, so without a branch: it reads
// in order as fast as memory brings the weight, and the processor's own prefetching does better, since software gets no
// more lines on their way than L1 can wait for. Pieces skip lines, which it does not follow.
class NextPanelPrefetch {
public:
  using Value = mlir::Value;

  // The panels [panel, + panels) come next with `depth` steps of k from `firstK` on; `tiles` tiles fetch them. `c` must
  // outlive the object.
  NextPanelPrefetch(const MatmulContext &c, int64_t panels, Value panel, Value firstK, int64_t depth, Value tiles);

  // Of a tile of so many rows. Valid as long as the object.
  TilePrefetch ofTile(Value tile, int64_t rows) const;
  // The lines of a tile's share, each once, before its first k. Where fetches wait for room, so that none is lost, that
  // leaves the iterations to the products.
  void fetchShare(Value tile) const;

private:
  // A tile's panel, and its number among the tiles that fetch from there.
  struct Share {
    Value panel, number;
  };
  Share shareOf(Value tile) const;
  Value paceOf(int64_t pieces) const;

  const MatmulContext &c;
  const int64_t panels, pieces, depth;  // pieces: of a full tile
  const Value panel;
  Value element, several, perPanel, pace;
};

}  // namespace talc
