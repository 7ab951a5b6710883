// SPDX-License-Identifier: Apache-2.0
// How the panels of a contraction's weight, the features that they meet and the columns of the result belong together.
//
//   groups 2, of 5 columns each, panels of 4 lanes      panel    0     1     2     3
//                                                       columns  0-3   4     5-8   9       features 0-S | S-2S
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

struct PanelShape {
  explicit PanelShape(kernel::MatmulOp op);

  // Whether the features of x that a panel meets begin at multiples of so many numbers in memory.
  bool startsAtMultiples(kernel::MatmulOp op, int64_t count) const;
  // The first feature of x that a panel meets.
  mlir::Value firstFeature(Emitter &e, mlir::Value panel) const;
  // The column of the result that is a lane of a panel, and whether there is one.
  mlir::Value columnOf(Emitter &e, mlir::Value panel, mlir::Value lane) const;
  mlir::Value hasColumn(Emitter &e, mlir::Value panel, mlir::Value lane) const;
  // Whether so many lanes of a panel, from a multiple of it on, are columns that lie side by side in the result and in
  // the inputs, at such a multiple, too, or no columns.
  bool holdTogether(kernel::MatmulOp op, int64_t count) const;

  int64_t count, depth, lanes;  // panels; of each the features and values side by side
  int64_t parts, columns;       // gate and up of a panel, and columns of each
  int64_t groups, groupPanels, groupColumns, groupFeatures;
};

}  // namespace talc
