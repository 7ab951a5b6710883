// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.route: one after the other the largest feature that is not yet in the result.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowPieces.h"

using namespace mlir;

namespace talc {

// The place of the largest feature above zero whose place in the result is still zero, and its value; of equal ones the
// first.
static Emitter::Values largestLeft(Emitter &e, kernel::RouteOp op, Value row) {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
  Emitter::Values none = {e.index(0), zero};
  return e.loop(e.index(0), e.index(widthOf(op.getX())), 1, none,
                [&](Value column, ValueRange best) -> Emitter::Values {
                  Value feature = e.loadScalar(op.getX(), {row, column});
                  Value left = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                                     e.loadScalar(op.getInit(), {row, column}), zero);
                  Value larger = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, feature, best[1]);
                  Value better = arith::AndIOp::create(e.b, e.loc, left, larger);
                  return {e.select(better, column, best[0]), e.select(better, feature, best[1])};
                });
}

void expandRoute(Emitter &e, kernel::RouteOp op) {
  int64_t width = widthOf(op.getX());
  Value init = op.getInit();
  eachRow(e, op, op.getX(), [&](Value row) {
    e.columns(width, [&](Value column, Value mask) { e.store(e.splat(0), init, {row, column}, mask); });
    e.sync();
    e.loop(e.index(0), e.index(op.getCount()), 1, [&](Value) {
      Emitter::Values best = largestLeft(e, op, row);
      Value before = e.loadScalar(init, {row, best[0]});  // nothing is left: it stays
      e.sync();
      e.storeScalar(arith::MaximumFOp::create(e.b, e.loc, before, best[1]), init, {row, best[0]});
      e.sync();
    });
    if (!op.getNormalized())
      return;
    auto load = [&](Value column, Value mask) { return e.load(init, {row, column}, mask); };
    Value sum = sumColumns(e, width, load);
    e.columns(width, [&](Value column, Value mask) {
      e.store(e.divf(load(column, mask), sum), init, {row, column}, mask);
    });
  });
}

}  // namespace talc
