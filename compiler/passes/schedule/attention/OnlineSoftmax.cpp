// SPDX-License-Identifier: Apache-2.0
// Merges the partial softmax states (maximum, sum, output) of key blocks, in order.
#include "compiler/passes/schedule/attention/OnlineSoftmax.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

Value exp2(Emitter &e, Value x) {
  return math::Exp2Op::create(e.b, e.loc, x);
}

SoftmaxState emptySoftmax(Emitter &e) {
  return {e.splat(maskedScore), e.splat(0)};
}

MergedSoftmax mergeSoftmax(Emitter &e, SoftmaxState before, SoftmaxState block) {
  Value maximum = e.maxf(before.maximum, block.maximum);
  Value factor = exp2(e, e.subf(before.maximum, maximum)), gain = exp2(e, e.subf(block.maximum, maximum));
  return {{maximum, e.fma(before.sum, factor, e.mulf(block.sum, gain))}, factor, gain};
}

Value mergeSoftmax(Emitter &e, Value output, Value factor, Value partial, Value gain) {
  return e.fma(partial, gain, e.mulf(output, factor));
}

Value inverseSum(Emitter &e, Value sum) {
  Value zero = e.splat(0), seen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, sum, zero);
  return e.select(seen, e.divf(e.splat(1), sum), zero);
}

Value inverseSum(Emitter &e, SoftmaxState all, SoftmaxState others) {
  MergedSoftmax now = mergeSoftmax(e, all, others);
  return e.mulf(now.factor, inverseSum(e, now.merged.sum));
}

Value inverseSum(Emitter &e, SoftmaxState all, Value sink) {
  return inverseSum(e, all, SoftmaxState{e.mulf(sink, e.splat(llvm::numbers::log2e)), e.splat(1)});
}

}  // namespace talc
