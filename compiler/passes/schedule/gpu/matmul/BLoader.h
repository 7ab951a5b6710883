// SPDX-License-Identifier: Apache-2.0
// Loads the B operand of a matmul's MMAs, the packed weight, through the multi-stage buffer that A goes through
// (ALoader.h).
//
// It is for a single row, which is bound by memory: the bandwidth that is reached is the number of bytes in flight
// divided by the latency. With several rows, B is loaded straight from global memory (MatmulByMma.cpp).
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/MmaPlan.h"

namespace talc {

class BLoader {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  // `weight` has one dimension. `bytes` of shared memory has plan.stagedBytes(), those of A first.
  BLoader(WorkgroupEmitter &e, const MmaPlan &plan, Value weight, Value bytes);

  // Offsets of the thread's first elements in each panel of the task.
  void begin(mlir::ValueRange panelOffsets);
  // Starts to copy what is multiplied at k into its stage.
  void copy(Value k);
  // The thread's vectors at k, in the order of plan.vectorOffset(), once they have been copied.
  Values load(Value k);

private:
  Value offsetInStages(Value k, int64_t vector);

  WorkgroupEmitter &e;
  const MmaPlan &plan;
  const Value weight, stages;
  Value firstOffset;  // of the thread's first vector in the first stage
  Values panelOffsets;
};

}  // namespace talc
