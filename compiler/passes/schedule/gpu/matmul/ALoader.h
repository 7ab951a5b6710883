// SPDX-License-Identifier: Apache-2.0
// The rows of a contraction as factors A of matrix instructions. A thread of the group g of a subgroup holds, of a tile
// of 16 rows, the rows g and g + 8 at two neighbouring k and at those behind the next 8.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/BLoader.h"

#include <memory>

namespace talc {

class ALoader {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  // Rows that others read, too, are f32, and rounded on their way. Rows that are rounded already come through shared
  // memory, if they are several or bring `weights`: as many bytes as sizes.stagedBytes() says.
  static std::unique_ptr<ALoader> create(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &sizes, Value bytes,
                                         BLoader *weights);
  virtual ~ALoader() = default;

  // The features that the subgroup's part of k meets begin at `first`.
  virtual void enter(Value first) = 0;
  // Factors of all tiles at k, which ascends from 0 in steps of 16.
  virtual Values load(Value k) = 0;
};

}  // namespace talc
