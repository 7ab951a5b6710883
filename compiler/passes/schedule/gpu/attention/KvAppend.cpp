// SPDX-License-Identifier: Apache-2.0
// kernel.kv_append: a thread stores some features of a token, or of one of its heads.
#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/KvAccess.h"

using namespace mlir;

namespace talc {

static kernel::KvLayout getLayout(kernel::KvAppendOp op) {
  return kernel::KvLayout(cast<KvCacheType>(op.getCache().getType()));
}

static bool isByHeads(kernel::KvAppendOp op) {
  return kernel::TasksOp::around(op).getSpace() == kernel::TaskSpace::heads;
}

int64_t kvAppendThreads(kernel::KvAppendOp op) {
  kernel::KvLayout layout = getLayout(op);
  return threadsForColumns(isByHeads(op) ? layout.width : layout.heads * layout.width);
}

// Stores `count` features, which are complete heads from `head` on.
static void storeToken(WorkgroupEmitter &e, kernel::KvAppendOp op, Value row, Value head, int64_t count) {
  kernel::KvLayout layout = getLayout(op);
  std::unique_ptr<ThreadKvAccess> cache = ThreadKvAccess::create(e, layout);
  Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
  Value slot = kernel::SlotOp::create(e.b, e.loc, op.getStep(), row);
  Value keys = cache->keys(op.getStep(), op.getCache(), slot),
        values = cache->values(op.getStep(), op.getCache(), slot);
  Value token = e.rem(position, layout.tokens);
  forEachPanelIndex(e, layout, e.div(position, layout.tokens), [&](Value panel) {
    e.each(count / cache->storeWidth(), [&](Value vector) {
      Value column = e.add(e.mul(head, layout.width), e.mul(vector, cache->storeWidth()));
      KvIndex index = {panel, e.div(column, layout.width), token};
      Value feature = e.rem(column, layout.width);
      cache->storeKey(keys, index, feature, [&](Value i) {
        return e.loadScalar(op.getKeys(), {row, e.add(column, i)});
      });
      cache->storeValue(values, index, feature, [&](Value i) {
        return e.loadScalar(op.getValues(), {row, e.add(column, i)});
      });
    });
  });
}

void expandKvAppend(WorkgroupEmitter &e, kernel::KvAppendOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  kernel::KvLayout layout = getLayout(op);
  const bool isByHead = isByHeads(op);
  setExtents(e, op, [&]() -> Emitter::Values { return {isByHead ? e.index(layout.heads) : e.rows(op.getKeys())}; });
  if (isByHead)
    return e.loop(e.index(0), e.rows(op.getKeys()), 1,
                  [&](Value row) { storeToken(e, op, row, tasks.part(0), layout.width); });
  e.loop(tasks.part(0), tasks.part(1), 1,
         [&](Value row) { storeToken(e, op, row, e.index(0), layout.heads * layout.width); });
}

}  // namespace talc
