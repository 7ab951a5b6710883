// SPDX-License-Identifier: Apache-2.0
// From the sums of matrix instructions to the result: parts of k are added, and sums go through shared memory once
// more, so that the code of an epilogue exists once.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/MmaPlan.h"

namespace talc {

class MmaEpilogue {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  // `bytes`: of shared memory.
  MmaEpilogue(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &sizes, Value bytes);

  // What a subgroup has found. Of tile t, panel q, half p and instruction j: sum
  // ((t * taskPanels + q) * parts + p) * perThread + j, as vector<2x2xf32> of the rows g and g + 8.
  void finish(Values found);

private:
  Values addUpperParts(mlir::ValueRange found, int64_t half);
  void leave(mlir::ValueRange found, Value slot);
  Values addLeft(mlir::ValueRange found, Value slot);
  Value placeOf(Value slot, size_t number, size_t count);
  Value placeInLine(Value place);
  void keep(mlir::ValueRange found);
  void keepRow(mlir::ValueRange found, int64_t half, Value row);
  int64_t together();
  void finishAll();
  void finish(Value r, Value place, Value inPanel, Value row, Value column);
  Values loadInputs(Value row, Value column);

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  kernel::TasksOp tasks;
  const MmaPlan sizes;
  Value own, lane, group, inGroup;  // the subgroup, the thread in it, its group, and its place there
  Value sums;                       // in shared memory
};

}  // namespace talc
