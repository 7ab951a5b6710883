// SPDX-License-Identifier: Apache-2.0
// The range of keys that a query may see.
#include "compiler/passes/schedule/attention/MaskRange.h"

using namespace mlir;

namespace talc {

MaskRange::MaskRange(Emitter &emitter, kernel::AttentionOp op)
    : e(emitter), op(op), role(cast<KvCacheType>(op.getCache().getType()).getRole()),
      sinkTokens(cast<KvCacheType>(op.getCache().getType()).getSinkTokens()) {}

void MaskRange::enter(kernel::SpanOp sequence) {
  span = sequence;
  bool source = role == KvCacheRole::source;
  slot = source ? span.getSourceSlot() : span.getSlot();
  allKeys = source ? span.getSourceLength() : e.add(span.getFirstPosition(), span.getTokens());
}

// Sink tokens are not part of the window; the range of a query that sees only these is empty.
Value MaskRange::firstKey(Value position) {
  Value begin = e.index(inSinkRange ? 0 : sinkTokens);
  if (op.getWindow() == 0 || inSinkRange)
    return begin;
  Value first = e.max(e.sub(position, e.index(op.getWindow() - 1)), begin);
  return sinkTokens > 0 ? e.min(first, e.add(position, 1)) : first;
}

Value MaskRange::endKey(Value position) {
  if (inSinkRange)
    return e.min(e.index(sinkTokens), e.add(position, 1));
  if (op.getMask() == MaskKind::causal)
    return e.add(position, 1);
  Value end = allKeys;
  if (op.getMask() == MaskKind::prefix)
    end = e.min(end, e.max(e.add(position, 1), span.getPrefix()));
  return op.getWindow() > 0 ? e.min(end, e.add(position, op.getWindow())) : end;
}

Value MaskRange::isScattered() {
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, span.getHistory(), e.index(0));
}

}  // namespace talc
