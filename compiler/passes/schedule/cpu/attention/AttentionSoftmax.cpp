// SPDX-License-Identifier: Apache-2.0
// Turns the scores of a block of keys into weights.
//
//   per row of a block: m = c * max S;  S = 2^(c * S - m), 0 where masked;  s = sum S
//   then, with P the weighted values of the block:
//     maximum' = max(maximum, m);  factor = 2^(maximum - maximum');  gain = 2^(m - maximum')
//     sum' = sum * factor + s * gain;  O' = O * factor + P * gain
//
// c combines the attention's scale and log2 e, so that neither costs an operation. With a bias or a cap, S is scaled
// when that is applied, and c is log2 e. Masked scores are a finite -1e30, which avoids inf - inf.
//
// m is rounded, and c * S in c * S - m is not: the difference at the largest score cancels out while |c * S| < 2^30.
// With larger scores no weight would be right.
#include "compiler/passes/schedule/cpu/attention/AttentionSoftmax.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

AttentionSoftmax::AttentionSoftmax(Emitter &emitter, KvView &keys, kernel::AttentionOp op, int64_t rows, int64_t size,
                                   bool online)
    : e(emitter), keys(keys), window(op.getWindow() > 0), online(online), scale(op.getScale().convertToDouble()),
      cap(op.getCap().convertToDouble()), scalesBeforeMax(op.getBias() || op.getRowBias() || cap > 0 || scale <= 0) {
  // Rows begin in different sets of the cache.
  scores = e.stackBuffer({rows, size + keys.layout.tokens});
  int64_t padded = llvm::alignTo(rows, e.lanes);
  sums = e.stackBuffer({padded});
  blockSums = sums;
  if (online)
    for (Value *buffer : {&maxima, &factors, &gains, &blockMaxima, &blockSums})
      *buffer = e.stackBuffer({padded});
  if (op.getSinks() || op.getZeroStart())
    for (Value *buffer : {&otherMaxima, &otherSums})
      *buffer = e.stackBuffer({padded});
}

void AttentionSoftmax::forEachVectorOfRows(llvm::function_ref<void(Value)> body) {
  e.loop(e.index(0), rowCount, e.lanes, body);
}

void AttentionSoftmax::fill(Value buffer, double value) {
  forEachVectorOfRows([&](Value row) { e.store(e.splat(value), buffer, {row}); });
}

void AttentionSoftmax::beginTask(Value count) {
  rowCount = count;
  fill(sums, 0);
  if (online)
    fill(maxima, maskedScore);
}

// These values stay if no row of a tile sees the block.
void AttentionSoftmax::beginBlock(Value key) {
  firstKey = key;
  if (!online)
    return;
  fill(blockMaxima, maskedScore);
  fill(blockSums, 0);
}

AttentionSoftmax::Columns AttentionSoftmax::splitColumns(int64_t n, Value row, Value from, Value to) {
  auto roundDown = [&](Value column) { return e.mul(e.div(column, e.lanes), e.lanes); };
  Value visibleColumns = e.sub(keys.visibleEnd(row), firstKey);
  Columns columns{from, from, roundDown(e.max(e.min(to, visibleColumns), from)), to};
  if (window) {
    Value first = e.max(e.sub(keys.firstVisible(e.add(row, n - 1)), firstKey), from);
    columns.wholeBegin = e.min(roundDown(e.add(first, e.lanes - 1)), columns.wholeEnd);
  }
  return columns;
}

Emitter::Values AttentionSoftmax::forEachColumn(const Columns &columns, Values values, Body body) {
  auto part = [&](Value from, Value to, bool isVisible) {
    values = e.loop(from, to, e.lanes, values,
                    [&](Value column, ValueRange carried) { return body(column, carried, isVisible); });
  };
  if (window)
    part(columns.from, columns.wholeBegin, false);
  part(columns.wholeBegin, columns.wholeEnd, true);
  part(columns.wholeEnd, columns.to, false);
  return values;
}

// A mask of the keys [column, + lanes) of the block: those that the row sees.
Value AttentionSoftmax::visibleLanes(Value row, Value column) {
  Value at = e.add(firstKey, column), zero = e.index(0);
  Value mask = e.firstLanes(e.max(e.sub(keys.visibleEnd(row), at), zero));
  if (!window)
    return mask;
  Value before = e.firstLanes(e.max(e.sub(keys.firstVisible(row), at), zero));
  return arith::AndIOp::create(e.b, e.loc, mask, arith::XOrIOp::create(e.b, e.loc, before, e.firstLanes(e.lanes)));
}

// Masks and biases scores. Returns the largest score of each row times c, in every lane.
Emitter::Values AttentionSoftmax::maxScores(int64_t n, Value row, const Columns &columns, const Bias &bias) {
  auto next = [&](Value r, Value column, Value maximum, bool isVisible) {
    Value score = e.load(scores, {r, column}), visible = isVisible ? Value() : visibleLanes(r, column);
    if (cap > 0) {
      score = e.mulf(math::TanhOp::create(e.b, e.loc, e.mulf(score, e.splat(scale / cap))), e.splat(cap));
      score = bias ? e.addf(score, bias(r, column, visible)) : score;
    } else if (bias)
      score = e.fma(score, e.splat(scale), bias(r, column, visible));
    else if (scalesBeforeMax)
      score = e.mulf(score, e.splat(scale));
    if (!isVisible)
      score = e.select(visible, score, e.splat(maskedScore));
    if (!isVisible || scalesBeforeMax)
      e.store(score, scores, {r, column});
    return e.maxf(score, maximum);
  };
  Values init(n, e.splat(maskedScore));
  Values maxima = forEachColumn(columns, init, [&](Value column, ValueRange carried, bool isVisible) {
    Values nextMaxima;
    for (int64_t r = 0; r < n; ++r)
      nextMaxima.push_back(next(e.add(row, r), column, carried[r], isVisible));
    return nextMaxima;
  });
  for (Value &maximum : maxima)
    maximum = e.mulf(e.maxLanes(maximum), exponentScale());
  return maxima;
}

// The c of 2^(c * S).
Value AttentionSoftmax::exponentScale() {
  return e.splat((scalesBeforeMax ? 1 : scale) * llvm::numbers::log2e);
}

// S = 2^(c * S - max); returns the sums in every lane. A masked score has the weight 0 even if the row has seen no key
// and `maxima` is as low; NaN counts as visible.
Emitter::Values AttentionSoftmax::exponentiate(int64_t n, Value row, const Columns &columns, ValueRange maxima) {
  Values subtracted;
  for (Value maximum : maxima)
    subtracted.push_back(e.subf(e.splat(0), maximum));
  auto next = [&](Value r, Value column, Value subtracted, Value sum, bool isVisible) {
    Value score = e.load(scores, {r, column}), weight = exp2(e, e.fma(score, exponentScale(), subtracted));
    if (!isVisible) {
      Value visible = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UGT, score, e.splat(maskedScore));
      weight = e.select(visible, weight, e.splat(0));
    }
    e.store(weight, scores, {r, column});
    return e.addf(sum, weight);
  };
  Values sums = forEachColumn(columns, Values(n, e.splat(0)), [&](Value column, ValueRange carried, bool isVisible) {
    Values sums;
    for (int64_t r = 0; r < n; ++r)
      sums.push_back(next(e.add(row, r), column, subtracted[r], carried[r], isVisible));
    return sums;
  });
  for (Value &sum : sums)
    sum = e.sumLanes(sum);
  return sums;
}

// Rows in one loop. Where the constants of 2^x take registers, there is room for two registers of each of three rows.
static int64_t rowsAtOnce(int64_t n, const IsaTraits &traits) {
  return traits.memoryOperands ? n : std::min<int64_t>(n, 3);
}

void AttentionSoftmax::applySoftmax(int64_t n, Value row, Value from, Value to, const Bias &bias) {
  Columns columns = splitColumns(n, row, from, to);
  Values maxima = maxScores(n, row, columns, bias), sums;
  for (int64_t first = 0, count; first < n; first += count) {
    count = rowsAtOnce(n - first, e.traits);
    sums.append(exponentiate(count, e.add(row, first), columns, ArrayRef<Value>(maxima).slice(first, count)));
  }
  auto store = [&](Value vector, Value memory, int64_t r) {
    e.storeScalar(e.lane(vector, 0), memory, {e.add(row, r)});
  };
  for (int64_t r = 0; r < n; ++r) {
    store(sums[r], blockSums, r);
    if (online)
      store(maxima[r], blockMaxima, r);
  }
}

void AttentionSoftmax::endBlock() {
  if (!online)
    return;
  forEachVectorOfRows([&](Value row) {
    SoftmaxState before{e.load(maxima, {row}), e.load(sums, {row})};
    MergedSoftmax now = mergeSoftmax(e, before, {e.load(blockMaxima, {row}), e.load(blockSums, {row})});
    e.store(now.merged.maximum, maxima, {row});
    e.store(now.merged.sum, sums, {row});
    e.store(now.factor, factors, {row});
    e.store(now.gain, gains, {row});
  });
}

void AttentionSoftmax::endTask(llvm::function_ref<SoftmaxState(Value row)> others) {
  if (others)
    e.loop(e.index(0), rowCount, 1, [&](Value row) {
      SoftmaxState state = others(row);
      e.storeScalar(state.maximum, otherMaxima, {row});
      e.storeScalar(state.sum, otherSums, {row});
    });
  forEachVectorOfRows([&](Value row) {
    Value sum = e.load(sums, {row}), inverse;
    if (others)
      inverse = inverseSum(e, {e.load(maxima, {row}), sum},
                           SoftmaxState{e.load(otherMaxima, {row}), e.load(otherSums, {row})});
    else
      inverse = inverseSum(e, sum);
    e.store(inverse, sums, {row});
  });
}

Value AttentionSoftmax::merge(Value row, Value output, Value partial) {
  Value factor = e.broadcast(e.loadScalar(factors, {row})), gain = e.broadcast(e.loadScalar(gains, {row}));
  return mergeSoftmax(e, output, factor, partial, gain);
}

}  // namespace talc
