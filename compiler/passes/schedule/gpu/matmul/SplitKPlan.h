// SPDX-License-Identifier: Apache-2.0
// Split-K: the parts of K that a matmul sums separately before it adds them.
//
// A matrix with a few thousand columns has too few panels to keep a GPU busy, and a thread that walks all of K has few
// loads in flight. The number of parts and the order of their sums follow from the weight's shape alone. So a row has
// the same bits whether one workgroup computes all parts, as for many rows, or each workgroup one part (split-k).
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {

struct SplitKPlan {
  SplitKPlan(kernel::MatmulOp op, const GpuFacts &gpu);

  // Adds one partial sum of each part: one after the other, or as a tree where subgroups have a part each:
  //   0 1 2 3  ->  0 + 2, 1 + 3  ->  (0 + 2) + (1 + 3)
  mlir::Value sum(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> partialSums) const;

  int64_t count = 1;       // parts
  bool asTree = false;     // the order of their sum
  int64_t workgroups = 0;  // of a single row if all parts are in one task
};

}  // namespace talc
