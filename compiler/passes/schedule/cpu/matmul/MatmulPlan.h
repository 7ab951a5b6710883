// SPDX-License-Identifier: Apache-2.0
// The sizes of a contraction: those of its operands, and those of the tiles and blocks that expand-matmul makes of
// it, which are the numbers of its plan.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

namespace talc {

// What a contraction multiplies, and what it makes.
struct MatmulShape {
  mlir::MemRefType x, weight;
  int64_t panels, width;  // of the weight, which pass together; columns of the result
  int64_t groups = 1;     // of the model
  bool gated;
  bool hasPlace;  // whether each sum has a place of its own in the result

  static MatmulShape of(kernel::MatmulOp op);
  // Of one expert.
  static MatmulShape of(kernel::ExpertsOp op);
};

// What the cost model looks at: lanes of a vector, bytes of L2, and what comes of fetches (CpuFacts).
struct CostModelTarget {
  int64_t lanes, cacheBytes;
  bool dropsPrefetches, prefetchesStreams;
};

struct MatmulPlan {
  // The cost model's choice.
  MatmulPlan(const MatmulShape &shape, const CostModelTarget &machine);
  // What assign-plans chose.
  MatmulPlan(const MatmulShape &shape, int64_t lanes, kernel::PlanAttr plan);

  static llvm::ArrayRef<TuningParameter<MatmulPlan>> parameters();
  // After others were given, what the cost model chose of unpacked panels goes with them.
  void fitLayout();
  // Why numbers in their ranges do not go together; empty: they do.
  std::string contradiction() const;

  // Panels side by side in a group, and the lanes of each that a tile of so many rows takes at a time: all, or what
  // divides them.
  int64_t groupPanels(int64_t rows) const;
  int64_t pieceLanes(int64_t rows) const;

  // With up to so many rows a tile takes more columns than a full one, or is alone and fetches its own stream. Of its
  // pieces only the first one would wait for memory: such a tile fetches what comes next instead, in all of them.
  int64_t fewRows() const;

  // Columns of a tile.
  int64_t tileLanes(int64_t rows) const { return groupPanels(rows) * pieceLanes(rows); }

  // Of panels that are unpacked: steps of k at a time (0: they cannot be), and rows of a tile, which loads no more
  // words of them than of its rows.
  int64_t layoutDepth() const;
  int64_t layoutTileRows() const { return tileColumns == lanes ? std::max<int64_t>(tileRows / 2, 1) : tileRows; }

  // The model's group, if it has several, that a panel belongs to.
  mlir::Value groupOf(Emitter &e, mlir::Value panel) const { return e.div(panel, panels / groups); }

  // Whether the sums of many rows wait in the result while k goes on: neither those of gates nor with a last panel that
  // is not full.
  bool sumsInResult() const { return blockDepth < depth && hasPlace && width == panels * panelLanes; }

  const Microkernel &products;
  int64_t lanes;
  int64_t panels, depth, panelLanes, panelColumns;  // of a gated panel half of the lanes are columns
  int64_t width;                                    // of the result
  int64_t groups, groupFeatures;                    // of the model, each of so many features of its own
  int64_t lineElements;                             // of the weight, in a line of the caches
  bool hasPlace;                                    // whether each sum has one in the result
  const StorageFormat *weightFormat;
  int64_t depthUnit;  // blocks of k begin at its multiples

  // The plan's numbers. Of a tile: rows, columns, steps of k per iteration; and columns of a tile of one row.
  int64_t tileRows, tileColumns, tileSteps, rowColumns;
  // More rows than a full tile's, but no more than these, are one tall tile of as many columns, or half of them, so
  // that they pass a weight once and its pieces fetch the next panel evenly; 0: there is none.
  int64_t tallRows;
  int64_t blockRows, blockPanels, blockDepth;
  int64_t taskPanels;  // of a task that is claimed
  // Lines of a weight that come later, which up to so many of few rows fetch ahead; 0: none. And those that the first
  // tile of a task of many rows does.
  int64_t fetchAhead, fetchRows, fetchFirst;
  // Lines of the panels that come next, and that a tile of many rows fetches in an iteration at most; and the cache
  // that all lines of a weight are fetched into: 1 or 2.
  int64_t fetchNext, fetchLevel;
  // Rows of several tiles, but no more than stream_rows, pass a panel in blocks of so many k, which stay in L1: they
  // read the weight once, in order; 0: there are none.
  int64_t streamRows, streamDepth;
  // So many rows and more pass panels that are unpacked for all of them, a block of k at a time; 0: none do.
  int64_t layoutRows;

private:
  MatmulPlan(const MatmulShape &shape, int64_t lanes);
  bool hasRoomForSums() const;
  bool hasHalves() const { return groupPanels(tileRows) == 1 && pieceLanes(tileRows) % (2 * lanes) == 0; }
  void chooseBlocks(const StorageFormat &x, int64_t room);
  void chooseStreams(const StorageFormat &weight);
  int64_t columns(int64_t rows) const;
};

}  // namespace talc
