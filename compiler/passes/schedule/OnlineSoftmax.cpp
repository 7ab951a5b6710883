// SPDX-License-Identifier: Apache-2.0
// How what blocks of keys yield is brought together, in their order.
#include "compiler/passes/schedule/OnlineSoftmax.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

Value exp2(Emitter &e, Value x) {
  return math::Exp2Op::create(e.b, e.loc, x);
}

Weighed nothingWeighed(Emitter &e) {
  return {e.splat(maskedScore), e.splat(0)};
}

BroughtTogether bringTogether(Emitter &e, Weighed before, Weighed block) {
  Value maximum = e.maxf(before.maximum, block.maximum);
  Value factor = exp2(e, e.subf(before.maximum, maximum)), gain = exp2(e, e.subf(block.maximum, maximum));
  return {{maximum, e.fma(before.sum, factor, e.mulf(block.sum, gain))}, factor, gain};
}

Value bringTogether(Emitter &e, Value output, Value factor, Value part, Value gain) {
  return e.fma(part, gain, e.mulf(output, factor));
}

Value inverseOf(Emitter &e, Value sum) {
  Value zero = e.splat(0), seen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, sum, zero);
  return e.select(seen, e.divf(e.splat(1), sum), zero);
}

Value inverseOf(Emitter &e, Weighed all, Weighed others) {
  BroughtTogether now = bringTogether(e, all, others);
  return e.mulf(now.factor, inverseOf(e, now.both.sum));
}

Value inverseOf(Emitter &e, Weighed all, Value sink) {
  return inverseOf(e, all, Weighed{e.mulf(sink, e.splat(llvm::numbers::log2e)), e.splat(1)});
}

}  // namespace talc
