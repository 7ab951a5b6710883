// SPDX-License-Identifier: Apache-2.0
// The zero keys before the first token of a sequence (zero_start): their scores are the biases of the distances from
// position + 1 to the end of the window. All distances of D and more have the bias of the first column.
#include "compiler/passes/schedule/attention/OnlineSoftmax.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

int64_t biasDistances(kernel::AttentionOp op) {
  return cast<ShapedType>(op.getRowBias().getType()).getDimSize(1) / static_cast<int64_t>(op.getHeads());
}

SoftmaxState zeroKeys(Emitter &e, kernel::AttentionOp op, Value row, Value head, Value position) {
  int64_t distances = biasDistances(op), window = op.getWindow();
  Value first = e.mul(head, distances), next = e.add(position, 1);
  Value zero = e.index(0), from = e.index(std::max<int64_t>(distances - window, 0)),
        to = e.sub(e.index(distances), next);
  Value repeated = e.max(e.sub(e.index(window), e.max(next, e.index(distances))), zero);
  Value log2e = e.splat(llvm::numbers::log2e), none = e.splat(maskedScore);
  auto load = [&](Value column, Value absent) {
    Value mask = e.firstLanes(e.sub(to, column));
    return e.select(mask, e.load(op.getRowBias(), {row, e.add(first, column)}, mask), absent);
  };
  Value outermost = e.broadcast(e.loadScalar(op.getRowBias(), {row, first}));
  outermost = e.select(e.less(zero, repeated), outermost, none);
  Value maximum = e.loop(from, to, e.lanes, {outermost}, [&](Value column, ValueRange before) -> Emitter::Values {
    return {e.maxf(before[0], load(column, none))};
  })[0];
  maximum = e.mulf(e.maxLanes(maximum), log2e);
  auto weight = [&](Value score) { return exp2(e, e.subf(e.mulf(score, log2e), maximum)); };
  Value sum = e.loop(from, to, e.lanes, {e.splat(0)}, [&](Value column, ValueRange before) -> Emitter::Values {
    return {e.addf(before[0], weight(load(column, none)))};
  })[0];
  Value count = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), repeated);
  count = e.broadcast(arith::SIToFPOp::create(e.b, e.loc, e.b.getF32Type(), count));
  return {maximum, e.fma(count, weight(outermost), e.sumLanes(sum))};
}

}  // namespace talc
