// SPDX-License-Identifier: Apache-2.0
// A tile of a matmul: some rows times a group of panels, for a block of k.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"

namespace talc {

// A row of x, and the first of its features that is multiplied; null: all are.
struct RowAddress {
  mlir::Value row, feature;
};

struct StoredSums;

// The context that all code of a matmul shares.
struct MatmulContext {
  Emitter &e;
  const MatmulPlan plan;
  kernel::TasksOp tasks;
  mlir::Value x, weight, result;
  // Makes results of the sums of the first rows of a block and of panels [panel, + panels): the epilogue.
  using Finish = void(const MatmulContext &c, const StoredSums &sums, mlir::Value rows, mlir::Value panels,
                      mlir::Value panel);
  std::function<Finish> finish;
  // The address of a row of x; null: the row that the tiles count.
  std::function<RowAddress(mlir::Value row)> rowAddress = nullptr;
  // Prefetches what `finish` is going to read and write for these rows; may be null.
  std::function<void(const MatmulContext &c, int64_t rows, int64_t panels, mlir::Value row, mlir::Value panel)>
      prefetchResults = nullptr;
};

// The context of an op's loops, whose results its epilogue makes of the sums.
MatmulContext makeMatmulContext(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op);

// Where the sums of a block of rows wait for their epilogue: on the stack, whose row 0 and column 0 are those of
// `firstRow` and `firstPanel`, or, if `stack` is null, in the result itself.
struct StoredSums {
  mlir::Value stack, firstRow, firstPanel;

  mlir::Value memory(const MatmulContext &c) const { return stack ? stack : c.result; }
  // The place of a row of the block.
  mlir::Value row(const MatmulContext &c, mlir::Value row) const { return stack ? row : c.e.add(firstRow, row); }
  // The place of a panel's first lane.
  mlir::Value column(const MatmulContext &c, mlir::Value panel) const {
    return c.e.mul(stack ? c.e.sub(panel, firstPanel) : panel, c.plan.shape.panelLanes);
  }
};

// Emits prefetches while a tile takes a slice of its panels, in a slot of the iteration that begins at k.
using TilePrefetch = std::function<void(mlir::Value slice, mlir::Value k, PrefetchSlot slot)>;

// Adds `k` steps, beginning at `firstK`, to the sums of rows [row, + rows) of a block and panels [panel, + panels).
struct MatmulTile {
  int64_t rows, panels;
  mlir::Value row, panel, firstK;
  int64_t k;
  TilePrefetch prefetch;
  bool prefetchesOwnPanels = false;  // what comes later of the same panels
  DequantizedPanels dequantized = {};
  mlir::Value dequantizedPanel = {};  // the first of these

  void emit(const MatmulContext &c, const StoredSums &sums) const;
};

// Dequantizes panels [panel, + panels) for `k` steps, beginning at `firstK`.
void dequantizePanels(const MatmulContext &c, int64_t panels, mlir::Value panel, mlir::Value firstK, int64_t k,
                      DequantizedPanels to);

}  // namespace talc
