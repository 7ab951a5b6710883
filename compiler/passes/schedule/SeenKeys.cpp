// SPDX-License-Identifier: Apache-2.0
// Which keys a row of a sequence sees.
#include "compiler/passes/schedule/SeenKeys.h"

using namespace mlir;

namespace talc {

SeenKeys::SeenKeys(Emitter &emitter, kernel::AttentionOp op)
    : e(emitter), op(op), role(cast<StateType>(op.getState().getType()).getRole()) {}

void SeenKeys::enter(kernel::SpanOp sequence) {
  span = sequence;
  bool source = role == StateRole::source;
  slot = source ? span.getSourceSlot() : span.getSlot();
  allKeys = source ? span.getSourceLength() : e.add(span.getFirstPosition(), span.getRows());
}

Value SeenKeys::firstAt(Value position) {
  Value zero = e.index(0);
  return op.getWindow() > 0 ? e.max(e.sub(position, e.index(op.getWindow() - 1)), zero) : zero;
}

Value SeenKeys::endAt(Value position) {
  if (op.getMask() == MaskKind::causal)
    return e.add(position, 1);
  Value end = allKeys;
  if (op.getMask() == MaskKind::prefix)
    end = e.min(end, e.max(e.add(position, 1), span.getPrefix()));
  return op.getWindow() > 0 ? e.min(end, e.add(position, op.getWindow())) : end;
}

Value SeenKeys::isScattered() {
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, span.getHistory(), e.index(0));
}

}  // namespace talc
