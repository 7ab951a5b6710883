// SPDX-License-Identifier: Apache-2.0
// kernel.tasks: how it is put around a piece, and what every space asks of it.
#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace talc::kernel {

namespace {
// How many arguments the body has, and how many extents and sizes of a task there are once they are known.
struct SpaceShape {
  unsigned arguments, extents, grain;
};
}  // namespace

static SpaceShape shapeOf(TaskSpace space) {
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
  llvm_unreachable("every space has a shape");
}

TasksOp TasksOp::wrap(Operation *piece, Value step, TaskSpace space, Share share) {
  OpBuilder b(piece);
  auto tasks =
      TasksOp::create(b, piece->getLoc(), step, ValueRange(), space, share, ArrayRef<int64_t>(), false, PlanAttr());
  Block &body = tasks.getBody().emplaceBlock();
  for (unsigned i = 0; i < shapeOf(space).arguments; ++i)
    body.addArgument(b.getIndexType(), piece->getLoc());
  piece->moveBefore(&body, body.end());
  return tasks;
}

TasksOp TasksOp::around(Operation *piece) {
  return dyn_cast_or_null<TasksOp>(piece->getParentOp());
}

TasksOp getTasks(func::FuncOp function) {
  if (!function->hasAttr(kernelOpAttr) || function.isExternal())
    return {};
  auto tasks = dyn_cast_or_null<TasksOp>(function.front().getTerminator()->getPrevNode());
  return tasks && tasks.getComputeOp() ? tasks : TasksOp();
}

Operation *TasksOp::getComputeOp() {
  Block &body = getBody().front();
  return llvm::hasSingleElement(body) ? &body.front() : nullptr;
}

LogicalResult TasksOp::verify() {
  SpaceShape shape = shapeOf(getSpace());
  StringRef space = stringifyTaskSpace(getSpace());
  TypeRange arguments = getBody().getArgumentTypes();
  if (arguments.size() != shape.arguments || !llvm::all_of(arguments, llvm::IsaPred<IndexType>))
    return emitOpError() << "over " << space << " has a body of " << arguments.size() << " arguments, expected "
                         << shape.arguments << " of type index";
  bool known = !getExtents().empty();
  if (known && getExtents().size() != shape.extents)
    return emitOpError() << "over " << space << " is of " << getExtents().size() << " extents, expected "
                         << shape.extents;
  if (getGrain().size() != (known ? shape.grain : 0) || llvm::any_of(getGrain(), [](int64_t size) { return size < 1; }))
    return emitOpError() << "over " << space << " has a grain of " << getGrain().size() << " sizes, expected "
                         << (known ? shape.grain : 0) << " of at least 1";
  if ((*this)->getParentOfType<TasksOp>())
    return emitOpError("stands in a task of another piece");
  return success();
}

}  // namespace talc::kernel
