// SPDX-License-Identifier: Apache-2.0
// The keys that the rows of a sequence see, and where keys and values lie.
#include "compiler/passes/schedule/cpu/AttentionKeys.h"

#include "compiler/passes/schedule/StatePanels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

static StateType stateOf(kernel::AttentionOp op) {
  return cast<StateType>(op.getState().getType());
}

AttentionKeys::AttentionKeys(Emitter &emitter, kernel::AttentionOp op, int64_t size, int64_t rows)
    : layout(stateOf(op)), e(emitter), op(op), seen(emitter, op), size(size) {
  if (mayScatter())
    copies = {e.stackBuffer({size / layout.tokens, layout.width, layout.tokens}),
              e.stackBuffer({size / layout.tokens, layout.tokens, layout.paddedWidth})};
  for (Value *bounds : {&firsts, &ends})
    *bounds = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({rows}, e.b.getIndexType()));
}

void AttentionKeys::enterRow(Value row, Value position) {
  e.storeScalar(seen.firstAt(position), firsts, {row});
  e.storeScalar(seen.endAt(position), ends, {row});
}

Value AttentionKeys::firstSeen(Value row) {
  return memref::LoadOp::create(e.b, e.loc, firsts, row);
}
Value AttentionKeys::endSeen(Value row) {
  return memref::LoadOp::create(e.b, e.loc, ends, row);
}

KeyBlock AttentionKeys::memoryOf(Value slot) {
  return {kernel::KeysOp::create(e.b, e.loc, layout.keysType(), op.getStep(), op.getState(), slot),
          kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), op.getStep(), op.getState(), slot)};
}

// Panels of `memory`, which has those of `heads` heads side by side, from one on, of one head.
KeyBlock AttentionKeys::panelsOf(const KeyBlock &memory, Value head, Value firstPanel, int64_t heads) {
  auto number = [&](int64_t value) -> OpFoldResult { return e.b.getIndexAttr(value); };
  Value first = e.add(e.mul(firstPanel, heads), head);
  auto view = [&](Value part, int64_t rows, int64_t columns) -> Value {
    int64_t panels = size / layout.tokens, panel = rows * columns, stride = heads * panel;
    auto strides = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, {stride, columns, 1});
    auto type = MemRefType::get({panels, rows, columns}, e.b.getF32Type(), strides);
    return memref::ReinterpretCastOp::create(e.b, e.loc, type, part, OpFoldResult(e.mul(first, panel)),
                                             {number(panels), number(rows), number(columns)},
                                             {number(stride), number(columns), number(1)});
  };
  return {view(memory.keys, layout.width, layout.tokens), view(memory.values, layout.tokens, layout.paddedWidth)};
}

KeyBlock AttentionKeys::choose(Value condition, const KeyBlock &yes, const KeyBlock &no) {
  auto either = [&](Value a, Value b) {
    auto from = cast<MemRefType>(a.getType());
    auto strides =
        StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, {ShapedType::kDynamic, from.getDimSize(2), 1});
    auto type = MemRefType::get(from.getShape(), from.getElementType(), strides);
    auto anyStride = [&](Value part) { return memref::CastOp::create(e.b, e.loc, type, part); };
    return e.select(condition, anyStride(a), anyStride(b));
  };
  return {either(yes.keys, no.keys), either(yes.values, no.values)};
}

KeyBlock AttentionKeys::find(Value head, Value firstKey, Value count) {
  KeyBlock own = inSlot(head, firstKey);
  if (!mayScatter())
    return own;
  Value gathered =
      arith::AndIOp::create(e.b, e.loc, seen.isScattered(), e.less(firstKey, seen.span.getFirstPosition()));
  e.when(gathered, [&] { gather(head, firstKey, count); });
  return choose(gathered, panelsOf(copies, e.index(0), e.index(0), 1), own);
}

KeyBlock AttentionKeys::inSlot(Value head, Value firstKey) {
  return panelsOf(memoryOf(seen.slot), head, panelOf(firstKey), layout.heads);
}

Value AttentionKeys::panelOf(Value key) {
  Value panel = e.div(key, layout.tokens);
  return seen.isKept() ? panel : panelPlace(e, layout, panel);
}

// Copies keys and values, each from the slot where it lies.
void AttentionKeys::gather(Value head, Value firstKey, Value count) {
  Value past = seen.span.getFirstPosition(), newest = e.add(seen.span.getHistory(), e.sub(past, e.index(1)));
  e.loop(e.index(0), count, 1, [&](Value key) {
    Value at = e.add(firstKey, key), panel = panelOf(at), lane = e.rem(at, layout.tokens);
    Value entry = e.min(e.add(seen.span.getHistory(), at), newest);
    Value from = e.select(e.less(at, past), kernel::HistoryOp::create(e.b, e.loc, op.getStep(), entry), seen.slot);
    KeyBlock memory = memoryOf(from);
    e.loop(e.index(0), e.index(layout.width), 1, [&](Value k) {
      e.storeScalar(e.loadScalar(memory.keys, {panel, head, k, lane}), copies.keys,
                    {e.div(key, layout.tokens), k, lane});
    });
    e.loop(e.index(0), e.index(layout.paddedWidth), e.lanes, [&](Value column) {
      e.store(e.load(memory.values, {panel, head, lane, column}), copies.values,
              {e.div(key, layout.tokens), lane, column});
    });
  });
}

}  // namespace talc
