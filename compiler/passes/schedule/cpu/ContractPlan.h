// SPDX-License-Identifier: Apache-2.0
// The sizes of a contraction: those of its operands, and those of the tiles and blocks that expand-contract makes of
// it.
#pragma once

#include "compiler/passes/schedule/cpu/RegisterTile.h"

namespace talc {

struct ContractPlan {
  // For vectors of `lanes` lanes and an L2 cache of `cacheBytes`.
  ContractPlan(kernel::ContractOp op, int64_t lanes, int64_t cacheBytes);

  // Panels side by side in a group, and the lanes of each that a tile of so many rows takes at a time: all, or what
  // divides them.
  int64_t groupPanels(int64_t rows) const;
  int64_t pieceLanes(int64_t rows) const;

  // Columns of a tile.
  int64_t tileLanes(int64_t rows) const { return groupPanels(rows) * pieceLanes(rows); }

  // Steps of k per iteration: as many multiply-adds with narrow vectors, of which a tile has half as many.
  int64_t unroll() const { return lanes > 8 ? 2 : 4; }

  // Vectors of four lanes are NEON's, whose multiply-add takes a scalar from a lane. A vector of a row's scalars serves
  // an iteration then: a quarter of the loads, and with all rows' six registers beside 24 accumulators two are left for
  // the weight.
  bool scalarsFromLanes() const { return lanes == 4 && unroll() == lanes; }

  int64_t lanes;
  int64_t panels, depth, panelLanes, panelColumns;  // of a gated panel half of the lanes are columns
  int64_t width;                                    // of the result
  int64_t lineElements;                             // of the weight, in a line of the caches
  bool isLarge;                                     // beside others of its kind it does not stay in L2
  bool sumsInResult;                                // of many rows, while k goes on
  int64_t rowBlock, panelBlock, depthBlock;

private:
  void chooseBlocks(int64_t room);
};

}  // namespace talc
