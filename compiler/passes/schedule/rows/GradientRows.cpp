// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.softmax_dgrad and kernel.place.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

using namespace mlir;

namespace talc {

void expandSoftmaxDgrad(Emitter &e, kernel::SoftmaxDgradOp op) {
  int64_t width = rowWidth(op.getY());
  eachRow(e, op, op.getY(), [&](Value row) {
    auto y = [&](Value column, Value mask) { return e.load(op.getY(), {row, column}, mask); };
    auto gradient = [&](Value column, Value mask) { return e.load(op.getGradient(), {row, column}, mask); };
    Value sum =
        sumColumns(e, width, [&](Value column, Value mask) { return e.mulf(gradient(column, mask), y(column, mask)); });
    e.columns(width, [&](Value column, Value mask) {
      Value result = e.mulf(y(column, mask), e.subf(gradient(column, mask), sum));
      e.store(result, op.getInit(), {row, column}, mask);
    });
  });
}

void expandPlace(Emitter &e, kernel::PlaceOp op) {
  int64_t width = rowWidth(op.getX()), offset = op.getOffset(), end = offset + width;
  eachRow(e, op, op.getInit(), [&](Value row) {
    auto clear = [&](int64_t from, int64_t count) {
      e.columns(count, [&](Value column, Value mask) {
        e.store(e.splat(0), op.getInit(), {row, e.add(column, from)}, mask);
      });
    };
    clear(0, offset);
    e.columns(width, [&](Value column, Value mask) {
      e.store(e.load(op.getX(), {row, column}, mask), op.getInit(), {row, e.add(column, offset)}, mask);
    });
    clear(end, rowWidth(op.getInit()) - end);
  });
}

}  // namespace talc
