// SPDX-License-Identifier: Apache-2.0
// A tile of a contraction: some rows times a group of panels, for a stretch of k.
#pragma once

#include "compiler/passes/schedule/cpu/ContractPlan.h"

namespace talc {

// A row of x, and the first of its features that is multiplied; null: all are.
struct RowPlace {
  mlir::Value row, feature;
};

struct WaitingSums;

// What the loops of a contraction have in common.
struct ContractCode {
  Emitter &e;
  const ContractPlan plan;
  kernel::TasksOp tasks;
  mlir::Value x, weight, result;
  // What becomes of the sums: of the first rows of a block, and panels [panel, + panels).
  using Finish = void(const ContractCode &c, const WaitingSums &sums, mlir::Value rows, mlir::Value panels,
                      mlir::Value panel);
  std::function<Finish> finish;
  // Where rows of x stand; null: where the tiles count them.
  std::function<RowPlace(mlir::Value row)> placeOf = nullptr;
  // Fetches what `finish` is going to read and write of these rows; may be null.
  std::function<void(const ContractCode &c, int64_t rows, int64_t panels, mlir::Value row, mlir::Value panel)>
      fetchResults = nullptr;
};

// Where the sums of a block of rows wait for their epilogue: on the stack, whose row 0 and column 0 are those of
// `firstRow` and `firstPanel`, or where `stack` is null in the result itself.
struct WaitingSums {
  mlir::Value stack, firstRow, firstPanel;

  mlir::Value memory(const ContractCode &c) const { return stack ? stack : c.result; }
  // Of a row of the block.
  mlir::Value row(const ContractCode &c, mlir::Value row) const { return stack ? row : c.e.add(firstRow, row); }
  // Of the first lane of a panel.
  mlir::Value column(const ContractCode &c, mlir::Value panel) const {
    return c.e.mul(stack ? c.e.sub(panel, firstPanel) : panel, c.plan.panelLanes);
  }
};

// Code that fetches what comes next into cache, while a tile takes a piece, in a turn of the iteration that begins at
// k.
using TileFetch = std::function<void(mlir::Value piece, mlir::Value k, Turn turn)>;

// The sums of rows [row, + rows) of a block and panels [panel, + panels) go on by `depth` steps of k from `firstK` on.
struct ContractTile {
  int64_t rows, panels;
  mlir::Value row, panel, firstK;
  int64_t depth;
  TileFetch fetch;
  bool streams = false;  // whether that is what comes later of the same panels
  LaidOut laidOut = {};
  mlir::Value laidOutPanel = {};  // whose lanes come first there

  void emit(const ContractCode &c, const WaitingSums &sums) const;
};

// Unpacks panels [panel, + panels) for `depth` steps of k from `firstK` on.
void layOutPanels(const ContractCode &c, int64_t panels, mlir::Value panel, mlir::Value firstK, int64_t depth,
                  LaidOut to);

}  // namespace talc
