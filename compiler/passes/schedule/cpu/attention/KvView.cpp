// SPDX-License-Identifier: Apache-2.0
// Locates keys and values of a sequence, and gathers those of other slots.
#include "compiler/passes/schedule/cpu/attention/KvView.h"

#include "compiler/passes/schedule/attention/KvLayout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

static KvCacheType cacheType(kernel::AttentionOp op) {
  return cast<KvCacheType>(op.getCache().getType());
}

KvView::KvView(Emitter &emitter, kernel::AttentionOp op, int64_t size, int64_t rows)
    : layout(cacheType(op)), panels(emitter, layout), e(emitter), op(op), range(emitter, op), size(size) {
  if (mayScatter())
    copies = panels.copies(size / layout.tokens);
  for (Value *bounds : {&firsts, &ends})
    *bounds = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({rows}, e.b.getIndexType()));
}

void KvView::enterRow(Value row, Value position) {
  e.storeScalar(range.firstKey(position), firsts, {row});
  e.storeScalar(range.endKey(position), ends, {row});
}

Value KvView::firstVisible(Value row) {
  return memref::LoadOp::create(e.b, e.loc, firsts, row);
}
Value KvView::visibleEnd(Value row) {
  return memref::LoadOp::create(e.b, e.loc, ends, row);
}

KvBlock KvView::slotMemory(Value slot) {
  return panels.slotMemory(op.getStep(), op.getCache(), slot);
}

KvBlock KvView::locate(Value head, Value firstKey, Value count) {
  KvBlock block = viewInSlot(head, firstKey);
  if (!mayScatter())
    return block;
  Value gathered =
      arith::AndIOp::create(e.b, e.loc, range.isScattered(), e.less(firstKey, range.span.getFirstPosition()));
  e.when(gathered, [&] { gather(head, firstKey, count); });
  return panels.choose(gathered, panels.viewPanels(copies, e.index(0), e.index(0), 1, size / layout.tokens), block);
}

KvBlock KvView::viewInSlot(Value head, Value firstKey) {
  return panels.viewPanels(slotMemory(range.slot), head, getPanelIndex(firstKey), layout.heads, size / layout.tokens);
}

Value KvView::getPanelIndex(Value key) {
  Value panel = e.div(key, layout.tokens);
  return range.isSinkRange() ? panel : panelIndex(e, layout, panel);
}

// Copies keys and values, each from the slot where it lies.
void KvView::gather(Value head, Value firstKey, Value count) {
  Value past = range.span.getFirstPosition(), newest = e.add(range.span.getHistory(), e.sub(past, e.index(1)));
  e.loop(e.index(0), count, 1, [&](Value key) {
    Value at = e.add(firstKey, key), panel = getPanelIndex(at), lane = e.rem(at, layout.tokens);
    Value entry = e.min(e.add(range.span.getHistory(), at), newest);
    Value from = e.select(e.less(at, past), kernel::HistoryOp::create(e.b, e.loc, op.getStep(), entry), range.slot);
    panels.copyToken(slotMemory(from), {panel, head, lane}, copies, e.div(key, layout.tokens));
  });
}

}  // namespace talc
