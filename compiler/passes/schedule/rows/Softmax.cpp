// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.softmax: maximum, sum of exponentials, division.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

void expandSoftmax(Emitter &e, kernel::SoftmaxOp op) {
  int64_t width = rowWidth(op.getX());
  Value x = op.getX(), y = op.getInit();
  eachRow(e, op, x, [&](Value row) {
    auto larger = [&](Value a, Value b) { return e.maxf(a, b); };
    auto load = [&](Value column, Value mask) { return e.load(x, {row, column}, mask); };
    Value highest = e.maxLanes(foldColumns(e, width, e.splat(-HUGE_VAL), larger, load));
    Value sum = sumColumns(e, width, [&](Value column, Value mask) {
      Value power = math::ExpOp::create(e.b, e.loc, e.subf(load(column, mask), highest));
      e.store(power, y, {row, column}, mask);
      return power;
    });
    Value factor = e.divf(e.splat(1), sum);
    e.columns(width, [&](Value column, Value mask) {
      e.store(e.mulf(e.load(y, {row, column}, mask), factor), y, {row, column}, mask);
    });
  });
}

}  // namespace talc
