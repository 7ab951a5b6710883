// SPDX-License-Identifier: Apache-2.0
// Sizes of workgroups, and extents of tasks.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace talc;

int64_t talc::threadsForColumns(int64_t columns) {
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), 32, 256);
}

int64_t talc::threadsForPanels(int64_t panels, int64_t panelThreads, int64_t maxThreads) {
  return std::max(panelThreads, std::min(maxThreads, threadsForColumns(panels * panelThreads)));
}

bool talc::usesMma(kernel::MatmulOp op, const GpuFacts &gpu) {
  return gpu.mma && findMmaObstacle(op, *gpu.mma).empty();
}

void talc::setExtents(WorkgroupEmitter &e, Operation *computeOp, llvm::function_ref<Emitter::Values()> extents,
                      ArrayRef<int64_t> grain) {
  kernel::TasksOp tasks = kernel::TasksOp::around(computeOp);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(tasks);
  tasks.getExtentsMutable().assign(extents());
  tasks.setGrain(grain);
}
