// SPDX-License-Identifier: Apache-2.0
// Attention, what queries bring along themselves: a bias for every distance of a key.
//
//   row of a head:   | D-1 and more | D-2 | ... | 1 | 0 |      a query at position p meets the key j in column
//                    0                               D-1       D - 1 - (p - j), and columns before the first are the
//                    first
//
// Columns ascend with keys, so that a vector of keys loads a vector of columns.
#include "compiler/passes/schedule/cpu/AttentionLoops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

static int64_t distancesOf(kernel::AttentionOp op) {
  return cast<ShapedType>(op.getRowBias().getType()).getDimSize(1) / static_cast<int64_t>(op.getHeads());
}

AttentionSoftmax::Bias AttentionLoops::rowBias(const TaskRows &rows, Value firstKey) {
  return [this, &rows, firstKey](Value row, Value column, Value seen) {
    int64_t distances = distancesOf(op), window = op.getWindow();
    Value token = rows.token(row), first = e.mul(rows.queryHead(row), distances);
    Value at = e.sub(e.add(e.add(firstKey, column), distances - 1), rows.position(row));
    if (window > 0 && window <= distances)
      return e.load(op.getRowBias(), {token, e.add(first, at)}, seen);
    Value further = e.firstLanes(e.max(e.sub(e.index(0), at), e.index(0))), all = e.firstLanes(e.lanes);
    Value near = arith::XOrIOp::create(e.b, e.loc, further, all);
    Value loaded = e.load(op.getRowBias(), {token, e.add(first, at)},
                          seen ? arith::AndIOp::create(e.b, e.loc, near, seen).getResult() : near);
    return e.select(further, e.broadcast(e.loadScalar(op.getRowBias(), {token, first})), loaded);
  };
}

// Scores of keys without values that are there before the first of a sequence: those at the distances from position + 1
// on, to the window's end. Distances of D and more are so many times the first column.
Weighed AttentionLoops::zeroKeys(const TaskRows &rows, Value row) {
  int64_t distances = distancesOf(op), window = op.getWindow();
  Value token = rows.token(row), first = e.mul(rows.queryHead(row), distances), next = e.add(rows.position(row), 1);
  Value zero = e.index(0), from = e.index(std::max<int64_t>(distances - window, 0)),
        to = e.sub(e.index(distances), next);
  Value repeated = e.max(e.sub(e.index(window), e.max(next, e.index(distances))), zero);
  Value log2e = e.splat(llvm::numbers::log2e), none = e.splat(maskedScore);
  auto load = [&](Value column, Value absent) {
    Value mask = e.firstLanes(e.sub(to, column));
    return e.select(mask, e.load(op.getRowBias(), {token, e.add(first, column)}, mask), absent);
  };
  Value outermost = e.broadcast(e.loadScalar(op.getRowBias(), {token, first}));
  outermost = e.select(e.less(zero, repeated), outermost, none);
  Value maximum = e.loop(from, to, e.lanes, {outermost}, [&](Value column, ValueRange before) -> Values {
    return {e.maxf(before[0], load(column, none))};
  })[0];
  maximum = e.mulf(e.maxLanes(maximum), log2e);
  auto weight = [&](Value score) { return exp2(e, e.subf(e.mulf(score, log2e), maximum)); };
  Value sum = e.loop(from, to, e.lanes, {e.splat(0)}, [&](Value column, ValueRange before) -> Values {
    return {e.addf(before[0], weight(load(column, none)))};
  })[0];
  Value count = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), repeated);
  count = e.broadcast(arith::SIToFPOp::create(e.b, e.loc, e.b.getF32Type(), count));
  sum = e.fma(count, weight(outermost), e.sumLanes(sum));
  return {e.lane(maximum, 0), e.lane(sum, 0)};
}

}  // namespace talc
