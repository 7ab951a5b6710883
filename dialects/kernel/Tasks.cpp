// SPDX-License-Identifier: Apache-2.0
// kernel.tasks: wrapping a compute op, and verification of each space.
#include "dialects/kernel/KernelDialect.h"

#include "dialects/Invariant.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace talc::kernel {

namespace {
// The number of arguments of the body, and of extents and grain sizes once stage schedule has set them.
struct SpaceShape {
  unsigned arguments, extents, grain;
};
}  // namespace

static SpaceShape getSpaceShape(TaskSpace space) {
  switch (space) {
  case TaskSpace::rows:
    return {2, 1, 0};
  case TaskSpace::heads:
    return {1, 1, 0};
  case TaskSpace::tiles:
    return {5, 2, 2};
  case TaskSpace::queries:
    return {5, 3, 2};
  case TaskSpace::keys:
    return {2, 3, 0};
  }
  talc::endByDefect("every space has a shape");
}

TasksOp TasksOp::wrap(Operation *op, Value step, TaskSpace space, Share share) {
  OpBuilder b(op);
  auto tasks = TasksOp::create(b, op->getLoc(), step, ValueRange(), space, share, ArrayRef<int64_t>(),
                               /*scattered=*/false, /*dynamic=*/false, PlanAttr());
  Block &body = tasks.getBody().emplaceBlock();
  for (unsigned i = 0; i < getSpaceShape(space).arguments; ++i)
    body.addArgument(b.getIndexType(), op->getLoc());
  op->moveBefore(&body, body.end());
  return tasks;
}

TasksOp TasksOp::around(Operation *op) {
  return dyn_cast_or_null<TasksOp>(op->getParentOp());
}

TasksOp getTasks(func::FuncOp function) {
  if (!function->hasAttr(kernelOpAttr) || function.isExternal())
    return {};
  auto tasks = dyn_cast_or_null<TasksOp>(function.front().getTerminator()->getPrevNode());
  return tasks && tasks.getComputeOp() ? tasks : TasksOp();
}

bool hasDynamicTasks(ModuleOp module) {
  return module.walk([](TasksOp tasks) { return tasks.getDynamic() ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

Operation *TasksOp::getComputeOp() {
  Block &body = getBody().front();
  return llvm::hasSingleElement(body) ? &body.front() : nullptr;
}

LogicalResult TasksOp::verify() {
  SpaceShape shape = getSpaceShape(getSpace());
  StringRef space = stringifyTaskSpace(getSpace());
  TypeRange arguments = getBody().getArgumentTypes();
  if (arguments.size() != shape.arguments || !llvm::all_of(arguments, llvm::IsaPred<IndexType>))
    return emitOpError() << "over " << space << " has a body of " << arguments.size() << " arguments, expected "
                         << shape.arguments << " of type index";
  bool hasExtents = !getExtents().empty();
  if (hasExtents && getExtents().size() != shape.extents)
    return emitOpError() << "over " << space << " has " << getExtents().size() << " extents, expected "
                         << shape.extents;
  if (getGrain().size() != (hasExtents ? shape.grain : 0) ||
      llvm::any_of(getGrain(), [](int64_t size) { return size < 1; }))
    return emitOpError() << "over " << space << " has a grain of " << getGrain().size() << " sizes, expected "
                         << (hasExtents ? shape.grain : 0) << " of at least 1";
  if ((*this)->getParentOfType<TasksOp>())
    return emitOpError("is inside a task of another compute op");
  return success();
}

}  // namespace talc::kernel
