// SPDX-License-Identifier: Apache-2.0
// kernel.kv_append by a workgroup: a thread stores features of a row, or of a head of it.
#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/KvAccess.h"

using namespace mlir;

namespace talc {

static kernel::KvLayout layoutOf(kernel::KvAppendOp op) {
  return kernel::KvLayout(cast<KvCacheType>(op.getCache().getType()));
}

static bool byHeads(kernel::KvAppendOp op) {
  return kernel::TasksOp::around(op).getSpace() == kernel::TaskSpace::heads;
}

int64_t threadsOfAppend(kernel::KvAppendOp op) {
  kernel::KvLayout layout = layoutOf(op);
  return threadsFor(byHeads(op) ? layout.width : layout.heads * layout.width);
}

// `count` features from the first of `head` on, which are whole heads.
static void storeRow(WorkgroupEmitter &e, kernel::KvAppendOp op, Value row, Value head, int64_t count) {
  kernel::KvLayout layout = layoutOf(op);
  std::unique_ptr<ThreadKvAccess> state = ThreadKvAccess::create(e, layout);
  Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
  Value slot = kernel::SlotOp::create(e.b, e.loc, op.getStep(), row);
  Value keys = state->keys(op.getStep(), op.getCache(), slot),
        values = state->values(op.getStep(), op.getCache(), slot);
  Value token = e.rem(position, layout.tokens);
  forEachPanelIndex(e, layout, e.div(position, layout.tokens), [&](Value panel) {
    e.each(count / state->together(), [&](Value number) {
      Value column = e.add(e.mul(head, layout.width), e.mul(number, state->together()));
      KvIndex at = {panel, e.div(column, layout.width), token};
      Value feature = e.rem(column, layout.width);
      state->storeKey(keys, at, feature, [&](Value i) { return e.loadScalar(op.getKeys(), {row, e.add(column, i)}); });
      state->storeValue(values, at, feature, [&](Value i) {
        return e.loadScalar(op.getValues(), {row, e.add(column, i)});
      });
    });
  });
}

void expandAppend(WorkgroupEmitter &e, kernel::KvAppendOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  kernel::KvLayout layout = layoutOf(op);
  bool heads = byHeads(op);
  setExtents(e, op, [&]() -> Emitter::Values { return {heads ? e.index(layout.heads) : e.rows(op.getKeys())}; });
  if (heads)
    return e.loop(e.index(0), e.rows(op.getKeys()), 1,
                  [&](Value row) { storeRow(e, op, row, tasks.part(0), layout.width); });
  e.loop(tasks.part(0), tasks.part(1), 1,
         [&](Value row) { storeRow(e, op, row, e.index(0), layout.heads * layout.width); });
}

}  // namespace talc
