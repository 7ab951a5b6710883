// SPDX-License-Identifier: Apache-2.0
// Which features of the input and which columns of the result a panel of a matmul's weight belongs to.
//
//   2 groups of 5 columns each, panels of 4 lanes      panel    0     1     2     3
//                                                      columns  0-3   4     5-8   9       features 0-S | S-2S
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

struct PanelShape {
  explicit PanelShape(kernel::MatmulOp op);

  // Whether the features of x that a panel meets begin at multiples of `count` values in memory.
  bool hasAlignedRows(kernel::MatmulOp op, int64_t count) const;
  // The first feature of x that a panel meets.
  mlir::Value firstFeature(Emitter &e, mlir::Value panel) const;
  // The column of the result that a lane of a panel computes, and whether there is one.
  mlir::Value columnIndex(Emitter &e, mlir::Value panel, mlir::Value lane) const;
  mlir::Value hasColumn(Emitter &e, mlir::Value panel, mlir::Value lane) const;
  // Whether every `count` lanes, from a multiple of `count` on, are columns that are contiguous and aligned in the
  // result and in the inputs of the epilogue, or no columns at all.
  bool canVectorizeColumns(kernel::MatmulOp op, int64_t count) const;

  int64_t count, depth, lanes;  // panels; K and lanes of each
  int64_t parts, columns;       // gate and up of a panel, and columns of each
  int64_t groups, groupPanels, groupColumns, groupFeatures;
};

}  // namespace talc
