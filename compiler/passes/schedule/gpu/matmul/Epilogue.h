// SPDX-License-Identifier: Apache-2.0
// From the accumulators of MMAs to the result: adds the split-K parts, and applies the epilogue. Sums go through shared
// memory once more, so that the code of an epilogue exists once.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/MmaPlan.h"

namespace talc {

class MmaEpilogue {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  // `bytes` of shared memory has plan.sharedBytes().
  MmaEpilogue(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &plan, Value bytes);

  // `accumulators` of a warp: that of tile t, panel q, gate or up p and instruction j has the index
  // ((t * taskPanels + q) * parts + p) * vectorWidth + j, as vector<2x2xf32> of the rows g and g + 8.
  void store(Values accumulators);

private:
  Values addUpperParts(mlir::ValueRange sums, int64_t half);
  void storeSums(mlir::ValueRange sums, Value slot);
  Values addStoredSums(mlir::ValueRange sums, Value slot);
  Value sumOffset(Value slot, size_t index, size_t count);
  Value swizzle(Value column);
  void storeTile(mlir::ValueRange sums);
  void storeTileRow(mlir::ValueRange sums, int64_t half, Value row);
  int64_t vectorWidth();
  void storeAllColumns();
  void storeColumns(Value tileRow, Value taskPanel, Value panelColumn, Value row, Value column);
  Values loadInputs(Value row, Value column);

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  kernel::TasksOp tasks;
  const MmaPlan plan;
  Value warp, lane, group, laneInGroup;  // the thread's warp, its lane there, its group of four lanes
  Value sharedSums;
};

}  // namespace talc
