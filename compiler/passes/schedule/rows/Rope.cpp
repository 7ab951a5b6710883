// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.rope: pairs of features are turned, those beyond are copied.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowPieces.h"

using namespace mlir;

namespace talc {

void expandRope(Emitter &e, kernel::RopeOp op) {
  int64_t heads = op.getHeads(), width = widthOf(op.getX()) / heads, half = widthOf(op.getTable()) / 2;
  eachRow(e, op, op.getX(), [&](Value row) {
    Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
    e.loop(e.index(0), e.index(heads), 1, [&](Value head) {
      Value base = e.mul(head, width);
      e.columns(half, [&](Value column, Value mask) {
        Value low = e.add(base, column), high = e.add(low, half);
        Value cosine = e.load(op.getTable(), {position, column}, mask);
        Value sine = e.load(op.getTable(), {position, e.add(column, half)}, mask);
        Value x = e.load(op.getX(), {row, low}, mask), y = e.load(op.getX(), {row, high}, mask);
        e.store(e.subf(e.mulf(x, cosine), e.mulf(y, sine)), op.getInit(), {row, low}, mask);
        e.store(e.addf(e.mulf(y, cosine), e.mulf(x, sine)), op.getInit(), {row, high}, mask);
      });
      Value rest = e.add(base, 2 * half);
      e.columns(width - 2 * half, [&](Value column, Value mask) {
        Value at = e.add(rest, column);
        e.store(e.load(op.getX(), {row, at}, mask), op.getInit(), {row, at}, mask);
      });
    });
  });
}

}  // namespace talc
