// SPDX-License-Identifier: Apache-2.0
// Loads the A operand of a matmul's MMAs: activations, either straight from global memory or through a multi-stage
// buffer in shared memory.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/BLoader.h"

#include <memory>

namespace talc {

class ALoader {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  // Activations in f32, which other ops read, too, are converted on their way. Activations in the weight's type go
  // through shared memory if there are several rows, or if `b` does: `bytes` has plan.stagedBytes().
  static std::unique_ptr<ALoader> create(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &plan, Value bytes,
                                         BLoader *b);
  virtual ~ALoader() = default;

  // Begins at the first feature of the warp's split-K part.
  virtual void begin(Value firstFeature) = 0;
  // Fragments of all tiles at k, which ascends from 0 in steps of the atom's K.
  virtual Values load(Value k) = 0;
};

}  // namespace talc
