// SPDX-License-Identifier: Apache-2.0
// kernel.append by a workgroup: a thread stores features of a row, or of a head of it.
#include "compiler/passes/schedule/StatePanels.h"
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

// `count` features from the first of `head` on.
static void storeRow(WorkgroupEmitter &e, kernel::AppendOp op, Value row, Value head, int64_t count) {
  kernel::StateLayout layout = layoutOf(op);
  Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
  Value slot = kernel::SlotOp::create(e.b, e.loc, op.getStep(), row);
  Value keys = kernel::KeysOp::create(e.b, e.loc, layout.keysType(), op.getStep(), op.getState(), slot);
  Value values = kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), op.getStep(), op.getState(), slot);
  Value lane = e.rem(position, layout.tokens);
  eachPanelPlace(e, layout, e.div(position, layout.tokens), [&](Value panel) {
    e.each(count, [&](Value feature) {
      Value column = e.add(e.mul(head, layout.width), feature);
      Value own = e.div(column, layout.width), inHead = e.rem(column, layout.width);
      e.storeScalar(e.loadScalar(op.getKeys(), {row, column}), keys, {panel, own, inHead, lane});
      e.storeScalar(e.loadScalar(op.getValues(), {row, column}), values, {panel, own, lane, inHead});
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
