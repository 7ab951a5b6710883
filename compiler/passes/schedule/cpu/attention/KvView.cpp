// SPDX-License-Identifier: Apache-2.0
// The keys that the rows of a sequence see, and where keys and values lie.
#include "compiler/passes/schedule/cpu/attention/KvView.h"

#include "compiler/passes/schedule/attention/KvLayout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

static KvCacheType stateOf(kernel::AttentionOp op) {
  return cast<KvCacheType>(op.getCache().getType());
}

KvView::KvView(Emitter &emitter, kernel::AttentionOp op, int64_t size, int64_t rows)
    : layout(stateOf(op)), panels(emitter, layout), e(emitter), op(op), seen(emitter, op), size(size) {
  if (mayScatter())
    copies = panels.copies(size / layout.tokens);
  for (Value *bounds : {&firsts, &ends})
    *bounds = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({rows}, e.b.getIndexType()));
}

void KvView::enterRow(Value row, Value position) {
  e.storeScalar(seen.firstKey(position), firsts, {row});
  e.storeScalar(seen.endKey(position), ends, {row});
}

Value KvView::firstSeen(Value row) {
  return memref::LoadOp::create(e.b, e.loc, firsts, row);
}
Value KvView::endSeen(Value row) {
  return memref::LoadOp::create(e.b, e.loc, ends, row);
}

KvBlock KvView::memoryOf(Value slot) {
  return panels.memoryOf(op.getStep(), op.getCache(), slot);
}

KvBlock KvView::find(Value head, Value firstKey, Value count) {
  KvBlock own = inSlot(head, firstKey);
  if (!mayScatter())
    return own;
  Value gathered =
      arith::AndIOp::create(e.b, e.loc, seen.isScattered(), e.less(firstKey, seen.span.getFirstPosition()));
  e.when(gathered, [&] { gather(head, firstKey, count); });
  return panels.choose(gathered, panels.panelsOf(copies, e.index(0), e.index(0), 1, size / layout.tokens), own);
}

KvBlock KvView::inSlot(Value head, Value firstKey) {
  return panels.panelsOf(memoryOf(seen.slot), head, panelOf(firstKey), layout.heads, size / layout.tokens);
}

Value KvView::panelOf(Value key) {
  Value panel = e.div(key, layout.tokens);
  return seen.isSinkRange() ? panel : panelIndex(e, layout, panel);
}

// Copies keys and values, each from the slot where it lies.
void KvView::gather(Value head, Value firstKey, Value count) {
  Value past = seen.span.getFirstPosition(), newest = e.add(seen.span.getHistory(), e.sub(past, e.index(1)));
  e.loop(e.index(0), count, 1, [&](Value key) {
    Value at = e.add(firstKey, key), panel = panelOf(at), lane = e.rem(at, layout.tokens);
    Value entry = e.min(e.add(seen.span.getHistory(), at), newest);
    Value from = e.select(e.less(at, past), kernel::HistoryOp::create(e.b, e.loc, op.getStep(), entry), seen.slot);
    panels.copyToken(memoryOf(from), {panel, head, lane}, copies, e.div(key, layout.tokens));
  });
}

}  // namespace talc
