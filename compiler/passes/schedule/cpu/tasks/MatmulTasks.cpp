// SPDX-License-Identifier: Apache-2.0
// How threads share the tiles of a contraction.
//
//            panels 0 1 2 3 | 4 5 6 7 | 8 9          few rows, or a single thread: a thread has a part of the panels,
//   block 0         task 0  | task 1  | task 2       and goes through all blocks of rows with it
//   block 1         task 3  | task 4  | task 5       else: tasks of a block of rows and a group of panels are claimed;
//   ...                                              those of a block follow each other, so that its rows stay in L2
//
// A step that is divided by rows has the same blocks in every thread's part of the rows: thread i's share of the tasks
// then is just the tasks of its rows, and needs nothing that other threads wrote.
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

using namespace mlir;

namespace talc {

namespace {

class TileTasks {
public:
  TileTasks(Emitter &e, kernel::TasksOp tasks)
      : e(e), tasks(tasks), step(tasks.getStep()), rows(tasks.getExtents()[0]), panels(tasks.getExtents()[1]),
        group(e.index(tasks.getGrain()[1])), groups(e.ceilDiv(panels, group)) {
    readPlan(tasks.getPlanAttr(), DistributionTunables::parameters(), plan);
  }

  void share() {
    std::tie(ownFirst, ownEnd) = ownPart(e, step, panels);
    if (std::optional<int64_t> known = getConstantIntValue(rows); known && *known < plan.stealingRows)
      return inlineBody(e, tasks, {e.index(0), rows, ownFirst, ownEnd, ownFirst});
    threads = kernel::ThreadsOp::create(e.b, e.loc, step);
    isClaimed = both(e.less(e.index(1), threads), e.less(e.index(plan.stealingRows - 1), rows));
    divideRows();
    groupsOfBlock = e.select(isClaimed, groups, e.index(1));
    count = e.mul(e.mul(parts, blocksOfPart), groupsOfBlock);
    WorkStealing claims(e, step, count, isClaimed);
    loopWithin(e, claims.next(e.index(0)), e.index(0), count, [&](Value task) {
      place(task);
      return claims.next(e.add(task, 1));
    });
  }

private:
  Value both(Value x, Value y) { return e.select(x, y, constantBool(e, false)); }

  // The rows fall into parts, and these into blocks.
  void divideRows() {
    Value one = e.index(1), byRows = constantBool(e, false);
    if (tasks.getShare() == kernel::Share::adaptive)
      byRows = both(isClaimed, kernel::TokenParallelOp::create(e.b, e.loc, step));
    parts = e.select(byRows, threads, one);
    Value sharing = e.select(byRows, one, threads);
    Value rowsOfPart = e.ceilDiv(rows, parts), blocks = e.ceilDiv(rowsOfPart, tasks.getGrain()[0]);
    Value wanted = e.min(e.ceilDiv(e.mul(sharing, plan.shareTasks), groups), e.div(rowsOfPart, plan.shareRows));
    blocksOfPart = e.select(isClaimed, e.max(blocks, wanted), blocks);
  }

  Value firstRow(Value block) {
    Value part = e.div(block, blocksOfPart), begin = e.div(e.mul(rows, part), parts);
    Value end = e.div(e.mul(rows, e.add(part, 1)), parts);
    return e.add(begin, e.div(e.mul(e.sub(end, begin), e.rem(block, blocksOfPart)), blocksOfPart));
  }

  // Of all threads' parts; within one the blocks, or the groups, come one after the other.
  Value blockOf(Value task) {
    if (!plan.byPanels)
      return e.div(task, groupsOfBlock);
    Value tasksOfPart = e.mul(blocksOfPart, groupsOfBlock), part = e.div(task, tasksOfPart);
    return e.add(e.mul(part, blocksOfPart), e.rem(e.rem(task, tasksOfPart), blocksOfPart));
  }

  Value firstPanel(Value task) {
    Value place = task;
    if (plan.byPanels)
      place = e.div(task, blocksOfPart);
    return e.select(isClaimed, e.mul(e.rem(place, groupsOfBlock), group), ownFirst);
  }

  void place(Value task) {
    Value block = blockOf(task), first = firstPanel(task);
    Value end = e.select(isClaimed, e.min(panels, e.add(first, group)), ownEnd);
    Value later = e.add(task, 1), next = e.select(e.less(later, count), firstPanel(later), behindLast(end));
    inlineBody(e, tasks, {firstRow(block), firstRow(e.add(block, 1)), first, end, next});
  }

  // What is fetched during the last task. Weights lie in the order of their use, so that behind this one comes the
  // first thread's part of the next; where another thread's begins is not known here, and what it has just read costs
  // nothing.
  Value behindLast(Value end) { return e.select(e.less(e.index(0), ownFirst), e.sub(end, e.index(1)), panels); }

  Emitter &e;
  kernel::TasksOp tasks;
  DistributionTunables plan;
  const Value step, rows, panels, group, groups;
  Value ownFirst, ownEnd;  // panels of this thread
  Value threads, isClaimed, parts, blocksOfPart, groupsOfBlock, count;
};

}  // namespace

void shareTiles(Emitter &e, kernel::TasksOp tasks) {
  TileTasks(e, tasks).share();
}

}  // namespace talc
