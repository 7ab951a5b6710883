// SPDX-License-Identifier: Apache-2.0
// kernel.append by a workgroup: a thread stores features of a row, or of a head of it.
#include "compiler/passes/schedule/StatePanels.h"
#include "compiler/passes/schedule/gpu/ThreadState.h"
#include "compiler/passes/schedule/gpu/WorkgroupPieces.h"

using namespace mlir;

namespace talc {

static kernel::StateLayout layoutOf(kernel::AppendOp op) {
  return kernel::StateLayout(cast<StateType>(op.getState().getType()));
}

static bool byHeads(kernel::AppendOp op) {
  return kernel::TasksOp::around(op).getSpace() == kernel::TaskSpace::heads;
}

int64_t threadsOfAppend(kernel::AppendOp op) {
  kernel::StateLayout layout = layoutOf(op);
  return threadsFor(byHeads(op) ? layout.width : layout.heads * layout.width);
}

// `count` features from the first of `head` on, which are whole heads.
static void storeRow(WorkgroupEmitter &e, kernel::AppendOp op, Value row, Value head, int64_t count) {
  kernel::StateLayout layout = layoutOf(op);
  std::unique_ptr<ThreadState> state = ThreadState::create(e, layout);
  Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
  Value slot = kernel::SlotOp::create(e.b, e.loc, op.getStep(), row);
  Value keys = state->keys(op.getStep(), op.getState(), slot),
        values = state->values(op.getStep(), op.getState(), slot);
  Value token = e.rem(position, layout.tokens);
  eachPanelPlace(e, layout, e.div(position, layout.tokens), [&](Value panel) {
    e.each(count / state->together(), [&](Value number) {
      Value column = e.add(e.mul(head, layout.width), e.mul(number, state->together()));
      StatePlace at = {panel, e.div(column, layout.width), token};
      Value feature = e.rem(column, layout.width);
      state->storeKey(keys, at, feature, [&](Value i) { return e.loadScalar(op.getKeys(), {row, e.add(column, i)}); });
      state->storeValue(values, at, feature, [&](Value i) {
        return e.loadScalar(op.getValues(), {row, e.add(column, i)});
      });
    });
  });
}

void expandAppend(WorkgroupEmitter &e, kernel::AppendOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  kernel::StateLayout layout = layoutOf(op);
  bool heads = byHeads(op);
  setExtents(e, op, [&]() -> Emitter::Values { return {heads ? e.index(layout.heads) : e.rows(op.getKeys())}; });
  if (heads)
    return e.loop(e.index(0), e.rows(op.getKeys()), 1,
                  [&](Value row) { storeRow(e, op, row, tasks.part(0), layout.width); });
  e.loop(tasks.part(0), tasks.part(1), 1,
         [&](Value row) { storeRow(e, op, row, e.index(0), layout.heads * layout.width); });
}

}  // namespace talc
