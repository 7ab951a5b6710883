// SPDX-License-Identifier: Apache-2.0
// An elementwise linalg.generic of a single row, whose columns workgroups share: a task is a vector of them.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/rows/Elementwise.h"

using namespace mlir;

namespace talc {

static MemRefType resultOf(linalg::GenericOp op) {
  return cast<MemRefType>(op.getDpsInits()[0].getType());
}

bool isSingleRow(linalg::GenericOp op) {
  return resultOf(op).hasStaticShape() && resultOf(op).getRank() == 2 && resultOf(op).getDimSize(0) == 1;
}

int64_t threadsOfRow(linalg::GenericOp op) {
  constexpr int64_t most = 128;
  return std::min(most, threadsFor(resultOf(op).getDimSize(1)));
}

void expandRow(WorkgroupEmitter &e, linalg::GenericOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  int64_t width = resultOf(op).getDimSize(1);
  setExtents(e, op, [&]() -> Emitter::Values { return {e.index(llvm::divideCeil(width, e.lanes))}; });
  Value column = e.mul(tasks.part(0), e.lanes);
  expandColumns(e, op, e.index(0), column, e.firstLanes(e.sub(e.index(width), column)));
}

}  // namespace talc
