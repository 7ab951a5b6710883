// SPDX-License-Identifier: Apache-2.0
// What the tiles of a contraction fetch ahead into cache.
#pragma once

#include "compiler/passes/schedule/cpu/ContractTile.h"

namespace talc {

// Of a single row: what the streams of these panels read next.
TileFetch fetchStreams(const ContractCode &c, int64_t panels, mlir::Value panel);

// The places of a tile's results, and what an epilogue reads there: they lie in other rows than the last tile's.
void fetchResults(const ContractCode &c, int64_t rows, int64_t panels, mlir::Value row, mlir::Value panel);

// The weight that comes after a group of panels, spread over the iterations of all tiles of a block of rows. A tile
// fetches from one panel, for each k of each piece `pace` elements.
class NextPanels {
public:
  using Value = mlir::Value;

  // The panels [panel, + panels) from `firstK` on come next; `tiles` tiles fetch them. `c` must outlive the object.
  NextPanels(const ContractCode &c, int64_t panels, Value panel, Value firstK, Value tiles);

  // Valid as long as the object.
  TileFetch ofTile(Value tile) const;

private:
  const ContractCode &c;
  const int64_t panels, pieces;
  const Value panel;
  Value element, perPanel, pace;
};

}  // namespace talc
