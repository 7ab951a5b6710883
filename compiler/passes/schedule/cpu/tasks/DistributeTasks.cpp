// SPDX-License-Identifier: Apache-2.0
// distribute-tasks: turns tasks into loops in which every worker does its share of them.
//
//   kernel.tasks over rows by rows of (%n) { ^bb0(%first, %end): body }
//     ->  %first = %n * worker / workers;  %end = %n * (worker + 1) / workers;  body
//
//   contiguous parts   rows, and the panels of a matmul of few rows: a worker finds what it wrote in its caches, and
//   the
//                      next op needs no barrier
//   cyclic             heads of a single row: head h belongs to worker h mod n in every op
//   work stealing      tiles of many rows, and queries: a worker does its own part in order, then takes tasks of
//   workers
//                      that are behind (kernel.next_task)
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"
#include "dialects/Invariant.h"

namespace talc {
#define GEN_PASS_DEF_DISTRIBUTETASKS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

static void distribute(Emitter &e, kernel::TasksOp tasks) {
  switch (tasks.getSpace()) {
  case kernel::TaskSpace::rows:
    return distributeRows(e, tasks);
  case kernel::TaskSpace::heads:
    return distributeHeads(e, tasks);
  case kernel::TaskSpace::tiles:
    return distributeTiles(e, tasks);
  case kernel::TaskSpace::queries:
    return distributeQueries(e, tasks);
  case kernel::TaskSpace::keys:
    return distributeKeys(e, tasks);
  }
}

static StringRef describe(kernel::TasksOp tasks) {
  bool hasOneRow = getConstantIntValue(tasks.getExtents()[0]) == 1;
  switch (tasks.getSpace()) {
  case kernel::TaskSpace::rows:
    return tasks.getShare() == kernel::Share::all ? "every worker computes all rows" : "every worker has its rows";
  case kernel::TaskSpace::heads:
  case kernel::TaskSpace::keys:
    return "workers take tasks cyclically";
  case kernel::TaskSpace::tiles:
    return hasOneRow ? "every worker has its panels"
                     : "work stealing of blocks of rows and groups of panels, if there are many rows";
  case kernel::TaskSpace::queries:
    return hasOneRow ? "workers take heads cyclically" : "work stealing of blocks of a head's rows";
  }
  talc::endByDefect("every task space has a description");
}

namespace {

struct DistributeTasks : talc::impl::DistributeTasksBase<DistributeTasks> {
  void runOnOperation() override {
    SmallVector<kernel::TasksOp> all;
    getOperation().walk([&](kernel::TasksOp tasks) { all.push_back(tasks); });
    for (kernel::TasksOp tasks : all) {
      if (tasks.getExtents().empty()) {
        tasks.emitOpError("holds an op that no pass has turned into loops");
        return signalPassFailure();
      }
      PassRemarks("schedule", "distribute-tasks").did(tasks, [&] { return describe(tasks).str(); });
      OpBuilder builder(tasks);
      Emitter emitter(builder, tasks.getLoc(), /*lanes=*/1);
      distribute(emitter, tasks);
      tasks.erase();
    }
  }
};

}  // namespace
