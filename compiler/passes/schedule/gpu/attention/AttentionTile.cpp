// SPDX-License-Identifier: Apache-2.0
// Masks, biases and scores of the queries of a tile.
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"

#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/attention/OnlineSoftmax.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

AttentionTile::AttentionTile(WorkgroupEmitter &e, kernel::AttentionOp op)
    : mask(e, op), e(e), op(op), layout(cast<KvCacheType>(op.getCache().getType())),
      group(op.getHeads() / layout.heads), scale(op.getScale().convertToDouble()), cap(op.getCap().convertToDouble()),
      scalesEarly(op.getBias() || op.getRowBias() || cap > 0 || scale <= 0) {}

void AttentionTile::begin(Value head, Value first, Value queries) {
  keyHead = head;
  firstQuery = first;
  count = queries;
  if (op.getZeroStart())
    addZeroKeys();
}

AttentionTile::Query AttentionTile::getQuery(Value index) {
  Value m = e.add(firstQuery, e.min(index, e.sub(count, e.index(1)))), token = e.div(m, group);
  Query query;
  query.row = e.add(mask.span.getFirstToken(), token);
  query.head = e.add(e.mul(keyHead, group), e.rem(m, group));
  query.position = e.add(mask.span.getFirstPosition(), token);
  query.first = mask.firstKey(query.position);
  query.end = mask.endKey(query.position);
  return query;
}

Value AttentionTile::firstKey() {
  return getQuery(e.index(0)).first;
}

Value AttentionTile::endKey() {
  return getQuery(e.sub(count, e.index(1))).end;
}

Value AttentionTile::isVisible(const Query &query, Value key) {
  Value isAfterFirst = e.less(e.sub(query.first, e.index(1)), key);
  return arith::AndIOp::create(e.b, e.loc, isAfterFirst, e.less(key, query.end));
}

Value AttentionTile::log2Scale() {
  return e.splat((scalesEarly ? 1 : scale) * llvm::numbers::log2e);
}

// Biases are loaded for visible keys only.
Value AttentionTile::computeScore(const Query &query, Value key, Value isVisible, Value product) {
  Value masked = e.splat(maskedScore);
  if (!op.getBias() && !op.getRowBias() && cap == 0)
    return e.select(isVisible, scalesEarly ? e.mulf(product, e.splat(scale)) : product, masked);
  auto score = [&]() -> Value {
    Value bias = op.getRowBias() ? loadRowBias(query, key) : op.getBias() ? loadBias(query, key) : Value();
    if (cap == 0)
      return e.fma(product, e.splat(scale), bias);
    Value score = math::TanhOp::create(e.b, e.loc, e.mulf(product, e.splat(scale / cap)));
    score = e.mulf(score, e.splat(cap));
    return bias ? e.addf(score, bias) : score;
  };
  return e.either(isVisible, score, masked);
}

Value AttentionTile::loadBias(const Query &query, Value key) {
  int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
  Value column = op.getAbsolute() ? key : e.sub(e.add(key, middle), query.position);
  return e.loadScalar(op.getBias(), {query.head, column});
}

// Keys beyond the largest distance of the bias use its first column.
Value AttentionTile::loadRowBias(const Query &query, Value key) {
  int64_t distances = biasDistances(op);
  Value column = e.max(e.sub(e.add(key, distances - 1), query.position), e.index(0));
  return e.loadScalar(op.getRowBias(), {query.row, e.add(e.mul(query.head, distances), column)});
}

// All threads of the workgroup, one query after the other.
void AttentionTile::addZeroKeys() {
  if (!zeroKeyStates)
    zeroKeyStates = e.shared({2, maxQueries()});
  e.loop(e.index(0), count, 1, [&](Value index) {
    Query query = getQuery(index);
    SoftmaxState state = zeroKeys(e, op, query.row, query.head, query.position);
    e.once([&] {
      e.storeScalar(state.maximum, zeroKeyStates, {e.index(0), index});
      e.storeScalar(state.sum, zeroKeyStates, {e.index(1), index});
    });
  });
  e.sync();
}

Value AttentionTile::inverse(Value queryIndex, SoftmaxState state) {
  if (op.getSinks())
    return inverseSum(e, state, e.loadScalar(op.getSinks(), {getQuery(queryIndex).head}));
  if (op.getZeroStart())
    return inverseSum(
        e, state,
        {e.loadScalar(zeroKeyStates, {e.index(0), queryIndex}), e.loadScalar(zeroKeyStates, {e.index(1), queryIndex})});
  return inverseSum(e, state.sum);
}

Value AttentionTile::findSlot(Value key) {
  if (!mask.mayScatter())
    return mask.slot;
  Value isInHistory = arith::AndIOp::create(e.b, e.loc, mask.isScattered(), e.less(key, mask.span.getFirstPosition()));
  return e.either(
      isInHistory,
      [&]() -> Value {
        return kernel::HistoryOp::create(e.b, e.loc, op.getStep(), e.add(mask.span.getHistory(), key));
      },
      mask.slot);
}

KvIndex AttentionTile::kvIndex(Value panel, Value token) {
  return {mask.isSinkRange() ? panel : panelIndex(e, layout, panel), keyHead, token};
}

}  // namespace talc
