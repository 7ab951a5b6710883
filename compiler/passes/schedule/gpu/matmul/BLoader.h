// SPDX-License-Identifier: Apache-2.0
// The weights of a single row's contraction on their way through the stages of shared memory that the row comes by
// (ALoader.h). Such a row waits for memory alone: what a GPU reads in a second is what is on its way at a time,
// divided by how long that takes.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/MmaPlan.h"

namespace talc {

class BLoader {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  // `weight`: number by number. `bytes` of shared memory: as many as sizes.stagedBytes() says, those of rows first.
  BLoader(WorkgroupEmitter &e, const MmaPlan &sizes, Value weight, Value bytes);

  // Where the thread begins in each panel of the task.
  void enter(mlir::ValueRange lines);
  // Begins to bring what is multiplied at k into its stage.
  void copy(Value k);
  // What the thread multiplies at k, as sizes.placeInStep() orders it, once it is there.
  Values load(Value k);

private:
  Value placeOf(Value k, int64_t number);

  WorkgroupEmitter &e;
  const MmaPlan &sizes;
  const Value weight, stages;
  Value own;  // where the thread's first vector of the first stage lies
  Values lines;
};

}  // namespace talc
