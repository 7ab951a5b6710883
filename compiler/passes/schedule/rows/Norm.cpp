// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.norm: mean, variance, division.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

static void normalize(Emitter &e, kernel::NormOp op, Value row, Value base, int64_t width) {
  auto x = [&](Value column, Value mask) { return e.load(op.getX(), {row, e.add(base, column)}, mask); };
  bool centred = op.getKind() == NormKind::layer;
  Value mean = e.splat(0), inverse = e.splat(1.0 / width);
  if (centred)
    mean = e.mulf(sumColumns(e, width, x), inverse);
  auto deviation = [&](Value column, Value mask) { return centred ? e.subf(x(column, mask), mean) : x(column, mask); };
  Value squares = sumColumns(e, width, [&](Value column, Value mask) {
    Value d = deviation(column, mask);
    return e.mulf(d, d);
  });
  Value variance = e.addf(e.mulf(squares, inverse), e.splat(op.getEpsilon().convertToDouble()));
  Value factor = e.divf(e.splat(1), math::SqrtOp::create(e.b, e.loc, variance));
  // Parameters for every group, or one set for all groups.
  auto ofGroup = [&](Value vector, Value column, Value mask) {
    bool shared = cast<ShapedType>(vector.getType()).getDimSize(0) == width;
    return e.load(vector, {shared ? column : e.add(base, column)}, mask);
  };
  e.columns(width, [&](Value column, Value mask) {
    Value y = e.mulf(e.mulf(deviation(column, mask), factor), ofGroup(op.getScale(), column, mask));
    if (op.getBias())
      y = e.addf(y, ofGroup(op.getBias(), column, mask));
    e.store(y, op.getInit(), {row, e.add(base, column)}, mask);
  });
}

void expandNorm(Emitter &e, kernel::NormOp op) {
  int64_t groups = op.getGroups(), width = rowWidth(op.getX()) / groups;
  eachRow(e, op, op.getX(), [&](Value row) {
    e.loop(e.index(0), e.index(groups), 1, [&](Value group) { normalize(e, op, row, e.mul(group, width), width); });
  });
}

}  // namespace talc
