// SPDX-License-Identifier: Apache-2.0
// The plan of a matmul: its shape, its microkernel, and the tuning parameters that cut its loops.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulShape.h"
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"

#include <memory>

namespace talc {

// The tuning parameters; comments name them as plans do where that differs.
struct MatmulTunables {
  // A full tile: rows, columns, steps of k per iteration (tile_steps). Columns of a tile of one row.
  int64_t tileRows, tileColumns, unroll, rowColumns;
  // More rows than a full tile has, but at most these, are one tall tile, which passes a weight once and whose slices
  // prefetch the next panel evenly; 0: there is none.
  int64_t tallRows;
  int64_t blockRows, blockPanels, blockK;  // block_depth
  int64_t taskPanels;                      // of a task that threads take while the step runs
  // Cache lines that a tile of at most `prefetchRows` rows prefetches ahead in its own stream (fetch_ahead,
  // fetch_rows); 0: none.
  int64_t prefetchAhead, prefetchRows;
  // Lines that the first tile of a task of many rows prefetches of its own panels (fetch_first), and lines of the next
  // panels that a tile of many rows prefetches in an iteration at most (fetch_next).
  int64_t prefetchFirst, prefetchNext;
  int64_t prefetchLevel;  // fetch_level: the cache that weights are prefetched into, 1 or 2
  // Rows of several tiles, but at most these, pass a panel in blocks of `streamK` (stream_depth) that stay in L1: they
  // read the weight once, in order. 0: no rows do.
  int64_t streamRows, streamK;
  // From so many rows on, tiles pass panels that are dequantized once for all of them (layout_rows); 0: never.
  int64_t dequantizeRows;

  static llvm::ArrayRef<TuningParameter<MatmulTunables>> parameters();
};

struct MatmulPlan {
  MatmulPlan(const MatmulShape &shape, const IsaTraits &traits);
  // The plan that assign-plans chose.
  MatmulPlan(const MatmulShape &shape, const IsaTraits &traits, kernel::PlanAttr attribute);

  // Why parameters in their ranges contradict each other; empty: they do not.
  std::string findContradiction() const;

  // Panels side by side in a group, and the lanes of each that a tile of so many rows takes at a time: a slice, all of
  // them or what divides them.
  int64_t groupPanels(int64_t rows) const;
  int64_t sliceLanes(int64_t rows) const;
  int64_t tileLanes(int64_t rows) const { return groupPanels(rows) * sliceLanes(rows); }
  int64_t slicesPerPanel(int64_t rows) const { return shape.panelLanes / sliceLanes(rows); }
  // Lanes of all panels of a group, and of the widest group that up to so many rows take.
  int64_t groupLanes(int64_t rows) const { return groupPanels(rows) * shape.panelLanes; }
  int64_t widestGroupLanes(int64_t maxRows) const;

  // The largest count of rows that are handled as one tile of their own: wider in N than a full tile, or prefetching
  // its own stream. A tile that reads its panels in slices prefetches the next panel instead, since only its first
  // slice would stall.
  int64_t maxFewRows() const;

  // Dequantized panels: steps of k at a time (0: there can be none), and rows of a tile, which loads at most as many
  // words of them as of its rows.
  int64_t dequantizedK() const;
  int64_t dequantizedTileRows() const;

  // Whether the sums of many rows wait in the result while k goes on. Sums of gates cannot, nor can those of a last
  // panel that is not full.
  bool sumsWaitInResult() const {
    return tunables.blockK < shape.k && shape.hasResultSlots && shape.n == shape.panels * shape.panelLanes;
  }
  bool sumsFitOnStack() const;
  // Whether a tall tile can take half of a full one's columns.
  bool hasHalfTiles() const;

  MatmulShape shape;
  IsaTraits traits;
  std::shared_ptr<const Microkernel> microkernel;
  int64_t kUnit;  // blocks of k begin at multiples of this
  MatmulTunables tunables = {};

private:
  int64_t columns(int64_t rows) const;
  int64_t preferredColumns(int64_t rows) const;
  int64_t accumulators(int64_t rows) const { return rows * tileLanes(rows) / traits.lanes; }
};

}  // namespace talc
