// SPDX-License-Identifier: Apache-2.0
// An elementwise linalg.generic of a single row: workgroups share its columns, one for each thread.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/rows/RowLoops.h"

using namespace mlir;

namespace talc {

static MemRefType getResultType(linalg::GenericOp op) {
  return cast<MemRefType>(op.getDpsInits()[0].getType());
}

bool hasSingleRow(linalg::GenericOp op) {
  return getResultType(op).hasStaticShape() && getResultType(op).getRank() == 2 && getResultType(op).getDimSize(0) == 1;
}

int64_t singleRowThreads(linalg::GenericOp op) {
  constexpr int64_t maxThreads = 128;
  return std::min(maxThreads, threadsForColumns(getResultType(op).getDimSize(1)));
}

void expandSingleRow(WorkgroupEmitter &e, linalg::GenericOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  int64_t width = getResultType(op).getDimSize(1);
  setExtents(e, op, [&]() -> Emitter::Values { return {e.index(llvm::divideCeil(width, e.lanes))}; });
  Value column = e.mul(tasks.part(0), e.lanes);
  expandColumns(e, op, e.index(0), column, e.firstLanes(e.sub(e.index(width), column)));
}

}  // namespace talc
