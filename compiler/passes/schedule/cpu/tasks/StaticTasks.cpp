// SPDX-License-Identifier: Apache-2.0
// Static schedules: rows in contiguous parts, heads and blocks of keys cyclically.
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"

using namespace mlir;

namespace talc {

std::pair<Value, Value> blockPartition(Emitter &e, Value step, Value count) {
  Value worker = kernel::WorkerOp::create(e.b, e.loc, step), workers = kernel::WorkersOp::create(e.b, e.loc, step);
  return {e.div(e.mul(count, worker), workers), e.div(e.mul(count, e.add(worker, 1)), workers)};
}

void distributeRows(Emitter &e, kernel::TasksOp tasks) {
  Value rows = tasks.getExtents()[0];
  if (tasks.getShare() == kernel::Share::all)
    return inlineBody(e, tasks, {e.index(0), rows});
  auto [first, end] = blockPartition(e, tasks.getStep(), rows);
  inlineBody(e, tasks, {first, end});
}

void cyclicLoop(Emitter &e, Value step, Value count, llvm::function_ref<void(Value)> body) {
  Value worker = kernel::WorkerOp::create(e.b, e.loc, step), workers = kernel::WorkersOp::create(e.b, e.loc, step);
  e.loop(worker, count, workers, body);
}

void distributeHeads(Emitter &e, kernel::TasksOp tasks) {
  cyclicLoop(e, tasks.getStep(), tasks.getExtents()[0], [&](Value head) { inlineBody(e, tasks, head); });
}

// The newest blocks come first, so that the worker that stored a head's newest key (distributeHeads) reads it.
void distributeKeys(Emitter &e, kernel::TasksOp tasks) {
  Value begin = tasks.getExtents()[0], end = tasks.getExtents()[1], heads = tasks.getExtents()[2];
  Value count = e.mul(e.max(e.sub(end, begin), e.index(0)), heads);
  cyclicLoop(e, tasks.getStep(), count, [&](Value task) {
    Value block = e.sub(e.sub(end, e.index(1)), e.div(task, heads));
    inlineBody(e, tasks, {block, e.rem(task, heads)});
  });
}

}  // namespace talc
