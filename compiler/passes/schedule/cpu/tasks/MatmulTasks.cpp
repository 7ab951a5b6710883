// SPDX-License-Identifier: Apache-2.0
// The distribution of a matmul's tiles to workers.
//
//            panels 0 1 2 3 | 4 5 6 7 | 8 9          few rows, or a single worker: a worker has a part of the panels,
//   block 0         task 0  | task 1  | task 2       and goes through all blocks of rows with it
//   block 1         task 3  | task 4  | task 5       else: tasks of a block of rows and a group of panels, by work
//   stealing;
//   ...                                              those of a block follow each other, so that its rows stay in L2
//
// A token-parallel step has the same blocks in every worker's part of the rows: the share of worker i is the tasks of
// its rows, and needs nothing that other workers wrote.
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

using namespace mlir;

namespace talc {

namespace {

class MatmulTasks {
public:
  MatmulTasks(Emitter &e, kernel::TasksOp tasks)
      : e(e), tasks(tasks), step(tasks.getStep()), rows(tasks.getExtents()[0]), panels(tasks.getExtents()[1]),
        group(e.index(tasks.getGrain()[1])), groups(e.ceilDiv(panels, group)) {
    readPlan(tasks.getPlanAttr(), DistributionTunables::parameters(), tunables);
  }

  void distribute() {
    std::tie(ownFirst, ownEnd) = blockPartition(e, step, panels);
    if (std::optional<int64_t> count = getConstantIntValue(rows); count && *count < std::min<int64_t>(tunables.stealingRows, tasks.getGrain()[0] + 1))
      return inlineBody(e, tasks, {e.index(0), rows, ownFirst, ownEnd, ownFirst});
    workers = kernel::WorkersOp::create(e.b, e.loc, step);
    isDynamic = both(e.less(e.index(1), workers), e.less(e.index(tunables.stealingRows - 1), rows));
    divideRows();
    groupsPerBlock = e.select(isDynamic, groups, e.index(1));
    count = e.mul(e.mul(parts, blocksPerPart), groupsPerBlock);
    WorkStealing stealing(e, step, count, isDynamic);
    loopWithin(e, stealing.next(e.index(0)), e.index(0), count, [&](Value task) {
      emitTask(task);
      return stealing.next(e.add(task, 1));
    });
  }

private:
  Value both(Value x, Value y) { return e.select(x, y, constantBool(e, false)); }

  // Divides the rows into parts, and these into blocks.
  void divideRows() {
    Value one = e.index(1), isTokenParallel = constantBool(e, false);
    if (tasks.getShare() == kernel::Share::adaptive)
      isTokenParallel = both(isDynamic, kernel::TokenParallelOp::create(e.b, e.loc, step));
    parts = e.select(isTokenParallel, workers, one);
    Value workersPerPart = e.select(isTokenParallel, one, workers);
    Value rowsPerPart = e.ceilDiv(rows, parts), blocks = e.ceilDiv(rowsPerPart, tasks.getGrain()[0]);
    Value sharedBlocks =
        e.min(e.ceilDiv(e.mul(workersPerPart, tunables.shareTasks), groups), e.div(rowsPerPart, tunables.shareRows));
    blocksPerPart = e.select(isDynamic, e.max(blocks, sharedBlocks), blocks);
  }

  Value firstRow(Value block) {
    Value part = e.div(block, blocksPerPart), begin = e.div(e.mul(rows, part), parts);
    Value end = e.div(e.mul(rows, e.add(part, 1)), parts);
    return e.add(begin, e.div(e.mul(e.sub(end, begin), e.rem(block, blocksPerPart)), blocksPerPart));
  }

  // Blocks are counted through all parts; within a part, tasks go block by block, or group by group.
  Value blockOfTask(Value task) {
    if (!tunables.byPanels)
      return e.div(task, groupsPerBlock);
    Value tasksPerPart = e.mul(blocksPerPart, groupsPerBlock), part = e.div(task, tasksPerPart);
    return e.add(e.mul(part, blocksPerPart), e.rem(e.rem(task, tasksPerPart), blocksPerPart));
  }

  Value firstPanel(Value task) {
    Value index = task;
    if (tunables.byPanels)
      index = e.div(task, blocksPerPart);
    return e.select(isDynamic, e.mul(e.rem(index, groupsPerBlock), group), ownFirst);
  }

  void emitTask(Value task) {
    Value block = blockOfTask(task), first = firstPanel(task);
    Value end = e.select(isDynamic, e.min(panels, e.add(first, group)), ownEnd);
    Value later = e.add(task, 1), next = e.select(e.less(later, count), firstPanel(later), panelAfterLast(end));
    inlineBody(e, tasks, {firstRow(block), firstRow(e.add(block, 1)), first, end, next});
  }

  // What the last task prefetches. Weights lie in the order of their use, so that the first worker's part of the next
  // weight comes after this one; where another worker's part begins is not known here, and prefetching what it has just
  // read costs nothing.
  Value panelAfterLast(Value end) { return e.select(e.less(e.index(0), ownFirst), e.sub(end, e.index(1)), panels); }

  Emitter &e;
  kernel::TasksOp tasks;
  DistributionTunables tunables;
  const Value step, rows, panels, group, groups;
  Value ownFirst, ownEnd;  // panels of this worker
  Value workers, isDynamic, parts, blocksPerPart, groupsPerBlock, count;
};

}  // namespace

void distributeTiles(Emitter &e, kernel::TasksOp tasks) {
  MatmulTasks(e, tasks).distribute();
}

}  // namespace talc
