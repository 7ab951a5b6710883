// SPDX-License-Identifier: Apache-2.0
// distribute-tasks: tasks become loops in which every thread does its share of them.
//
//   kernel.tasks over rows by rows of (%n) { ^bb0(%first, %end): body }
//     ->  %first = %n * thread / threads;  %end = %n * (thread + 1) / threads;  body
//
//   a fixed part      rows, and the panels of a contraction of few rows: what a thread wrote it finds in its caches,
//                     and the next piece needs no barrier
//   in turn           heads of a single row: head h belongs to thread h mod n, whichever piece asks
//   claimed           tiles of many rows, and queries: a thread does its own part in order, then takes over tasks of
//                     threads that are behind (work stealing; kernel.next_task)
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"

namespace talc {
#define GEN_PASS_DEF_DISTRIBUTETASKS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

static void distribute(Emitter &e, kernel::TasksOp tasks) {
  switch (tasks.getSpace()) {
  case kernel::TaskSpace::rows:
    return shareRows(e, tasks);
  case kernel::TaskSpace::heads:
    return shareHeads(e, tasks);
  case kernel::TaskSpace::tiles:
    return shareTiles(e, tasks);
  case kernel::TaskSpace::queries:
    return shareQueries(e, tasks);
  case kernel::TaskSpace::keys:
    return shareKeys(e, tasks);
  }
}

// What the threads do, in words.
static StringRef wordsFor(kernel::TasksOp tasks) {
  bool oneRow = getConstantIntValue(tasks.getExtents()[0]) == 1;
  switch (tasks.getSpace()) {
  case kernel::TaskSpace::rows:
    return tasks.getShare() == kernel::Share::all ? "every thread computes all rows" : "every thread has its rows";
  case kernel::TaskSpace::heads:
  case kernel::TaskSpace::keys:
    return "threads take tasks in turn";
  case kernel::TaskSpace::tiles:
    return oneRow ? "every thread has its panels" : "blocks of rows and groups of panels are claimed, if rows are many";
  case kernel::TaskSpace::queries:
    return oneRow ? "threads take heads in turn" : "blocks of a head's rows are claimed";
  }
  llvm_unreachable("every space has words");
}

namespace {

struct DistributeTasks : talc::impl::DistributeTasksBase<DistributeTasks> {
  void runOnOperation() override {
    SmallVector<kernel::TasksOp> all;
    getOperation().walk([&](kernel::TasksOp tasks) { all.push_back(tasks); });
    for (kernel::TasksOp tasks : all) {
      if (tasks.getExtents().empty()) {
        tasks.emitOpError("holds a piece that has not become loops");
        return signalPassFailure();
      }
      PassRemarks("schedule", "distribute-tasks").did(tasks, [&] { return wordsFor(tasks).str(); });
      OpBuilder builder(tasks);
      Emitter emitter(builder, tasks.getLoc(), /*lanes=*/1);
      distribute(emitter, tasks);
      tasks.erase();
    }
  }
};

}  // namespace
