// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.norm and of its gradient: mean, variance, division.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

// One group of features of a row: (x - mean) * factor is normalized, without mean if it is not centered.
struct NormGroup {
  NormGroup(Emitter &e, NormKind kind, double epsilon, Value data, Value row, Value base, int64_t width)
      : e(e), data(data), row(row), base(base), width(width), isCentered(kind == NormKind::layer) {
    Value inverse = e.splat(1.0 / width);
    if (isCentered)
      mean = e.mulf(sumColumns(e, width, [&](Value column, Value mask) { return load(data, column, mask); }), inverse);
    Value squares = sumColumns(e, width, [&](Value column, Value mask) {
      Value d = deviation(column, mask);
      return e.mulf(d, d);
    });
    Value variance = e.addf(e.mulf(squares, inverse), e.splat(epsilon));
    factor = e.divf(e.splat(1), math::SqrtOp::create(e.b, e.loc, variance));
  }

  Value load(Value rows, Value column, Value mask) { return e.load(rows, {row, e.add(base, column)}, mask); }
  Value deviation(Value column, Value mask) {
    Value x = load(data, column, mask);
    return isCentered ? e.subf(x, mean) : x;
  }
  // A parameter for every group, or one set for all groups.
  Value parameter(Value vector, Value column, Value mask) {
    bool isShared = cast<ShapedType>(vector.getType()).getDimSize(0) == width;
    return e.load(vector, {isShared ? column : e.add(base, column)}, mask);
  }
  void store(Value value, Value rows, Value column, Value mask) {
    e.store(value, rows, {row, e.add(base, column)}, mask);
  }

  Emitter &e;
  Value data, row, base;
  int64_t width;
  bool isCentered;
  Value mean, factor;
};

}  // namespace

static void normalize(Emitter &e, kernel::NormOp op, Value row, Value base, int64_t width) {
  NormGroup group(e, op.getKind(), op.getEpsilon().convertToDouble(), op.getX(), row, base, width);
  e.columns(width, [&](Value column, Value mask) {
    Value y = e.mulf(e.mulf(group.deviation(column, mask), group.factor), group.parameter(op.getScale(), column, mask));
    if (op.getBias())
      y = e.addf(y, group.parameter(op.getBias(), column, mask));
    group.store(y, op.getInit(), column, mask);
  });
}

// With w = gradient * scale and h normalized: factor * (w - mean(w) - h * mean(w * h)), mean(w) if it is centered.
static void differentiate(Emitter &e, kernel::NormDgradOp op, Value row, Value base, int64_t width) {
  NormGroup group(e, op.getKind(), op.getEpsilon().convertToDouble(), op.getX(), row, base, width);
  Value inverse = e.splat(1.0 / width), mean;
  auto w = [&](Value column, Value mask) {
    return e.mulf(group.load(op.getGradient(), column, mask), group.parameter(op.getScale(), column, mask));
  };
  auto h = [&](Value column, Value mask) { return e.mulf(group.deviation(column, mask), group.factor); };
  if (group.isCentered)
    mean = e.mulf(sumColumns(e, width, w), inverse);
  Value product =
      e.mulf(sumColumns(e, width, [&](Value column, Value mask) { return e.mulf(w(column, mask), h(column, mask)); }),
             inverse);
  e.columns(width, [&](Value column, Value mask) {
    Value value = w(column, mask);
    if (group.isCentered)
      value = e.subf(value, mean);
    value = e.mulf(e.subf(value, e.mulf(h(column, mask), product)), group.factor);
    group.store(value, op.getInit(), column, mask);
  });
}

// Runs body(row, first feature, width) for every group of every row.
template <typename Op> static void eachGroup(Emitter &e, Op op, llvm::function_ref<void(Value, Value, int64_t)> body) {
  int64_t groups = op.getGroups(), width = rowWidth(op.getX()) / groups;
  eachRow(e, op, op.getX(), [&](Value row) {
    e.loop(e.index(0), e.index(groups), 1, [&](Value group) { body(row, e.mul(group, width), width); });
  });
}

void expandNorm(Emitter &e, kernel::NormOp op) {
  eachGroup(e, op, [&](Value row, Value base, int64_t width) { normalize(e, op, row, base, width); });
}

void expandNormDgrad(Emitter &e, kernel::NormDgradOp op) {
  eachGroup(e, op, [&](Value row, Value base, int64_t width) { differentiate(e, op, row, base, width); });
}

}  // namespace talc
