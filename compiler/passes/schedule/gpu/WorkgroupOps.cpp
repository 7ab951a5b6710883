// SPDX-License-Identifier: Apache-2.0
// What the pieces of workgroups share.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace talc;

int64_t talc::threadsFor(int64_t columns) {
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), 32, 256);
}

int64_t talc::threadsForPanels(int64_t panels, int64_t threadsOfPanel, int64_t most) {
  return std::max(threadsOfPanel, std::min(most, threadsFor(panels * threadsOfPanel)));
}

void talc::setExtents(WorkgroupEmitter &e, Operation *piece, llvm::function_ref<Emitter::Values()> extents,
                      ArrayRef<int64_t> grain) {
  kernel::TasksOp tasks = kernel::TasksOp::around(piece);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(tasks);
  tasks.getExtentsMutable().assign(extents());
  tasks.setGrain(grain);
}
