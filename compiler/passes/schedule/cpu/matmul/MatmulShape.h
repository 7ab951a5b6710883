// SPDX-License-Identifier: Apache-2.0
// The problem that a matmul solves: its operands, and the sizes that follow from their types.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

struct MatmulShape {
  explicit MatmulShape(kernel::MatmulOp op);
  // The matmul of one expert.
  explicit MatmulShape(kernel::ExpertsOp op);

  // The model's group, if it has several, that a panel belongs to.
  mlir::Value groupIndex(Emitter &e, mlir::Value panel) const { return e.div(panel, panels / groups); }

  mlir::MemRefType x, weight;
  int64_t panels;       // of the weight; of one expert's part of it
  int64_t n;            // columns of the result
  int64_t groups;       // of the model: each multiplies features of its own
  bool isGated;         // half of a panel's lanes are gates
  bool hasResultSlots;  // each sum has an element of the result, where it may wait while k goes on
  int64_t k, panelLanes;
  int64_t panelColumns;  // lanes of a panel that become columns of the result
  int64_t groupFeatures;
  int64_t lineElements;  // of the weight, in a cache line
  const StorageFormat *weightFormat;

private:
  MatmulShape(mlir::MemRefType x, mlir::MemRefType weight, int64_t panels, int64_t n, int64_t groups, bool isGated,
              bool hasResultSlots);
};

}  // namespace talc
