// SPDX-License-Identifier: Apache-2.0
// A tile of a contraction: some rows times a group of panels, for a stretch of k.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"

namespace talc {

// A row of x, and the first of its features that is multiplied; null: all are.
struct RowAddress {
  mlir::Value row, feature;
};

struct StoredSums;

// What the loops of a contraction have in common.
struct MatmulContext {
  Emitter &e;
  const MatmulPlan plan;
  kernel::TasksOp tasks;
  mlir::Value x, weight, result;
  // What becomes of the sums: of the first rows of a block, and panels [panel, + panels).
  using Finish = void(const MatmulContext &c, const StoredSums &sums, mlir::Value rows, mlir::Value panels,
                      mlir::Value panel);
  std::function<Finish> finish;
  // Where rows of x stand; null: where the tiles count them.
  std::function<RowAddress(mlir::Value row)> placeOf = nullptr;
  // Fetches what `finish` is going to read and write of these rows; may be null.
  std::function<void(const MatmulContext &c, int64_t rows, int64_t panels, mlir::Value row, mlir::Value panel)>
      prefetchResults = nullptr;
};

// Where the sums of a block of rows wait for their epilogue: on the stack, whose row 0 and column 0 are those of
// `firstRow` and `firstPanel`, or where `stack` is null in the result itself.
struct StoredSums {
  mlir::Value stack, firstRow, firstPanel;

  mlir::Value memory(const MatmulContext &c) const { return stack ? stack : c.result; }
  // Of a row of the block.
  mlir::Value row(const MatmulContext &c, mlir::Value row) const { return stack ? row : c.e.add(firstRow, row); }
  // Of the first lane of a panel.
  mlir::Value column(const MatmulContext &c, mlir::Value panel) const {
    return c.e.mul(stack ? c.e.sub(panel, firstPanel) : panel, c.plan.panelLanes);
  }
};

// Code that fetches what comes next into cache, while a tile takes a piece, in a turn of the iteration that begins at
// k.
using TilePrefetch = std::function<void(mlir::Value piece, mlir::Value k, PrefetchSlot turn)>;

// The sums of rows [row, + rows) of a block and panels [panel, + panels) go on by `depth` steps of k from `firstK` on.
struct MatmulTile {
  int64_t rows, panels;
  mlir::Value row, panel, firstK;
  int64_t depth;
  TilePrefetch fetch;
  bool streams = false;  // whether that is what comes later of the same panels
  DequantizedPanels laidOut = {};
  mlir::Value laidOutPanel = {};  // whose lanes come first there

  void emit(const MatmulContext &c, const StoredSums &sums) const;
};

// Unpacks panels [panel, + panels) for `depth` steps of k from `firstK` on.
void layOutPanels(const MatmulContext &c, int64_t panels, mlir::Value panel, mlir::Value firstK, int64_t depth,
                  DequantizedPanels to);

}  // namespace talc
