// SPDX-License-Identifier: Apache-2.0
// What the queries of a tile see, and what becomes of the product of a query and a key.
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"

#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/attention/ZeroKeys.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

AttentionTile::AttentionTile(WorkgroupEmitter &e, kernel::AttentionOp op)
    : seen(e, op), e(e), op(op), layout(cast<KvCacheType>(op.getCache().getType())),
      group(op.getHeads() / layout.heads), scale(op.getScale().convertToDouble()), cap(op.getCap().convertToDouble()),
      scalesFirst(op.getBias() || op.getRowBias() || cap > 0 || scale <= 0) {}

void AttentionTile::enter(Value head, Value first, Value number) {
  keyHead = head;
  firstQuery = first;
  count = number;
  if (op.getZeroStart())
    weighZeros();
}

AttentionTile::Query AttentionTile::queryOf(Value number) {
  Value m = e.add(firstQuery, e.min(number, e.sub(count, e.index(1)))), token = e.div(m, group);
  Query query;
  query.row = e.add(seen.span.getFirstToken(), token);
  query.head = e.add(e.mul(keyHead, group), e.rem(m, group));
  query.position = e.add(seen.span.getFirstPosition(), token);
  query.first = seen.firstKey(query.position);
  query.end = seen.endKey(query.position);
  return query;
}

Value AttentionTile::firstKey() {
  return queryOf(e.index(0)).first;
}

Value AttentionTile::endKey() {
  return queryOf(e.sub(count, e.index(1))).end;
}

Value AttentionTile::isSeen(const Query &query, Value key) {
  Value isNotBefore = e.less(e.sub(query.first, e.index(1)), key);
  return arith::AndIOp::create(e.b, e.loc, isNotBefore, e.less(key, query.end));
}

Value AttentionTile::steepness() {
  return e.splat((scalesFirst ? 1 : scale) * llvm::numbers::log2e);
}

// Of a key that is not seen nothing is loaded.
Value AttentionTile::scoreOf(const Query &query, Value key, Value isSeen, Value product) {
  Value none = e.splat(maskedScore);
  if (!op.getBias() && !op.getRowBias() && cap == 0)
    return e.select(isSeen, scalesFirst ? e.mulf(product, e.splat(scale)) : product, none);
  auto found = [&]() -> Value {
    Value bias = op.getRowBias() ? rowBiasOf(query, key) : op.getBias() ? biasOf(query, key) : Value();
    if (cap == 0)
      return e.fma(product, e.splat(scale), bias);
    Value score = math::TanhOp::create(e.b, e.loc, e.mulf(product, e.splat(scale / cap)));
    score = e.mulf(score, e.splat(cap));
    return bias ? e.addf(score, bias) : score;
  };
  return e.either(isSeen, found, none);
}

Value AttentionTile::biasOf(const Query &query, Value key) {
  int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
  Value at = op.getAbsolute() ? key : e.sub(e.add(key, middle), query.position);
  return e.loadScalar(op.getBias(), {query.head, at});
}

// Keys further away than the bias has columns for have that of the first.
Value AttentionTile::rowBiasOf(const Query &query, Value key) {
  int64_t distances = biasDistances(op);
  Value at = e.max(e.sub(e.add(key, distances - 1), query.position), e.index(0));
  return e.loadScalar(op.getRowBias(), {query.row, e.add(e.mul(query.head, distances), at)});
}

// All threads together, one query after the other.
void AttentionTile::weighZeros() {
  if (!zeros)
    zeros = e.shared({2, size()});
  e.loop(e.index(0), count, 1, [&](Value number) {
    Query query = queryOf(number);
    SoftmaxState found = zeroKeys(e, op, query.row, query.head, query.position);
    e.once([&] {
      e.storeScalar(found.maximum, zeros, {e.index(0), number});
      e.storeScalar(found.sum, zeros, {e.index(1), number});
    });
  });
  e.sync();
}

Value AttentionTile::inverse(Value number, SoftmaxState all) {
  if (op.getSinks())
    return inverseSum(e, all, e.loadScalar(op.getSinks(), {queryOf(number).head}));
  if (op.getZeroStart())
    return inverseSum(e, all, {e.loadScalar(zeros, {e.index(0), number}), e.loadScalar(zeros, {e.index(1), number})});
  return inverseSum(e, all.sum);
}

Value AttentionTile::slotOf(Value key) {
  if (!seen.mayScatter())
    return seen.slot;
  Value elsewhere = arith::AndIOp::create(e.b, e.loc, seen.isScattered(), e.less(key, seen.span.getFirstPosition()));
  return e.either(
      elsewhere,
      [&]() -> Value {
        return kernel::HistoryOp::create(e.b, e.loc, op.getStep(), e.add(seen.span.getHistory(), key));
      },
      seen.slot);
}

KvIndex AttentionTile::placeOf(Value panel, Value token) {
  return {seen.isSinkRange() ? panel : panelIndex(e, layout, panel), keyHead, token};
}

}  // namespace talc
