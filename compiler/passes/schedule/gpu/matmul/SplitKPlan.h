// SPDX-License-Identifier: Apache-2.0
// Parts of k that a contraction sums up by themselves, and adds then.
//
// Panels are too few to keep a GPU busy where a matrix has some thousand columns, and a thread that goes through all
// of k has few loads on their way at a time. Parts and the order of their sums follow from the weight's shape alone, so
// that a row has the same bits whether one workgroup takes all parts, as of many rows, or each has one (split-k).
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {

struct SplitKPlan {
  // `matrices`: matrix instructions multiply, where the contraction is one that takes them.
  SplitKPlan(kernel::MatmulOp op, bool matrices);

  // The sum of one value of each part. One after the other; or halves are added to halves, as subgroups do that have a
  // part each:   0 1 2 3  ->  0 + 2, 1 + 3  ->  (0 + 2) + (1 + 3)
  mlir::Value sum(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> values) const;

  int64_t count = 1;
  bool byHalves = false;
  int64_t tasks = 0;  // workgroups of a single row that has all parts together
};

}  // namespace talc
