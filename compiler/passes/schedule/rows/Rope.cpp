// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.rope, and of the rotation back: rotates pairs of features and copies the others.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

using namespace mlir;

namespace talc {

namespace {

// The location of the cosines and sines of a token.
struct Turns {
  Value memory, row;
};

// Composes the rotations of the three digits of a position, one after the other; half of a table row at a time.
template <typename Op> Turns compose(Emitter &e, Op op, Value position, Value scratch) {
  int64_t digits = op.getDigits(), half = rowWidth(op.getTable()) / 2;
  Value rows[3] = {e.rem(position, digits), e.add(e.rem(e.div(position, digits), digits), digits),
                   e.add(e.div(position, digits * digits), 2 * digits)};
  e.columns(half, [&](Value column, Value mask) {
    auto load = [&](Value row, int64_t from) { return e.load(op.getTable(), {row, e.add(column, from)}, mask); };
    Value cosine = load(rows[0], 0), sine = load(rows[0], half);
    for (Value row : llvm::drop_begin(rows)) {
      Value c = load(row, 0), s = load(row, half), before = cosine;
      cosine = e.subf(e.mulf(before, c), e.mulf(sine, s));
      sine = e.addf(e.mulf(sine, c), e.mulf(before, s));
    }
    e.store(cosine, scratch, {e.index(0), column}, mask);
    e.store(sine, scratch, {e.index(0), e.add(column, half)}, mask);
  });
  return {scratch, e.index(0)};
}

// `isBack`: by the negative angle.
template <typename Op> void rotate(Emitter &e, Op op, bool isBack) {
  int64_t heads = op.getHeads(), width = rowWidth(op.getX()) / heads, half = rowWidth(op.getTable()) / 2;
  Value scratch = op.getDigits() > 0 ? rowScratch(e, op, rowWidth(op.getTable())) : Value();
  eachRow(e, op, op.getX(), [&](Value row) {
    Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
    if (op.getLast() > 0)
      position = e.min(position, e.index(op.getLast()));
    Turns turns = scratch ? compose(e, op, position, scratch) : Turns{op.getTable(), position};
    e.loop(e.index(0), e.index(heads), 1, [&](Value head) {
      Value base = e.mul(head, width);
      e.columns(half, [&](Value column, Value mask) {
        Value low = e.add(base, column), high = e.add(low, half);
        Value cosine = e.load(turns.memory, {turns.row, column}, mask);
        Value sine = e.load(turns.memory, {turns.row, e.add(column, half)}, mask);
        Value x = e.load(op.getX(), {row, low}, mask), y = e.load(op.getX(), {row, high}, mask);
        auto turn = [&](Value a, Value b, bool adds) {
          Value ofCosine = e.mulf(a, cosine), ofSine = e.mulf(b, sine);
          return adds ? e.addf(ofCosine, ofSine) : e.subf(ofCosine, ofSine);
        };
        e.store(turn(x, y, isBack), op.getInit(), {row, low}, mask);
        e.store(turn(y, x, !isBack), op.getInit(), {row, high}, mask);
      });
      Value rest = e.add(base, 2 * half);
      e.columns(width - 2 * half, [&](Value column, Value mask) {
        Value at = e.add(rest, column);
        e.store(e.load(op.getX(), {row, at}, mask), op.getInit(), {row, at}, mask);
      });
    });
  });
}

}  // namespace

void expandRope(Emitter &e, kernel::RopeOp op) {
  rotate(e, op, /*isBack=*/false);
}

void expandRopeDgrad(Emitter &e, kernel::RopeDgradOp op) {
  rotate(e, op, /*isBack=*/true);
}

}  // namespace talc
