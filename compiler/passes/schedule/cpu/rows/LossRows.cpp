// SPDX-License-Identifier: Apache-2.0
// The loops of the loss and its gradient, and of rows that go back to the tokens that they were selected from.
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"
#include "compiler/passes/schedule/rows/RowLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

// The number of wanted tokens before a token, by bisection.
static Value countWanted(Emitter &e, kernel::SpreadOp op, Value token, Value count) {
  constexpr int64_t maxSteps = 32;  // of a number of wanted tokens
  Value steps = e.select(e.less(e.index(0), count), e.index(maxSteps), e.index(0));
  Emitter::Values range = {e.index(0), count};
  return e.loop(e.index(0), steps, 1, range, [&](Value, ValueRange before) -> Emitter::Values {
    Value middle = e.div(e.add(before[0], before[1]), 2), place = e.min(middle, e.sub(count, e.index(1)));
    Value isBefore = e.less(kernel::OutputTokenOp::create(e.b, e.loc, op.getStep(), op.getOutput(), place), token);
    Value isOpen = e.less(before[0], before[1]);
    Value goesUp = arith::AndIOp::create(e.b, e.loc, isBefore, isOpen);
    Value begin = e.select(goesUp, e.add(middle, 1), before[0]);
    return {begin, e.select(goesUp, before[1], middle)};
  })[0];
}

void expandSpread(Emitter &e, kernel::SpreadOp op) {
  int64_t width = rowWidth(op.getX());
  eachRow(e, op, op.getInit(), [&](Value row) {
    Value count = kernel::OutputCountOp::create(e.b, e.loc, op.getStep(), op.getOutput());
    Value place = countWanted(e, op, row, count);
    auto copy = [&] {
      e.columns(width, [&](Value column, Value mask) {
        e.store(e.load(op.getX(), {place, column}, mask), op.getInit(), {row, column}, mask);
      });
    };
    auto clear = [&] {
      e.columns(width, [&](Value column, Value mask) { e.store(e.splat(0), op.getInit(), {row, column}, mask); });
    };
    e.choose(
        e.less(place, count),
        [&] {
          Value token = kernel::OutputTokenOp::create(e.b, e.loc, op.getStep(), op.getOutput(), place);
          e.choose(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, token, row), copy, clear);
        },
        clear);
  });
}

//===--- loss -----------------------------------------------------------------------------------------------------===//

namespace {

// The logits of a row; its label is negative if it has none.
struct LossRow {
  LossRow(Emitter &e, Value step, Value logits, Value row)
      : e(e), logits(logits), row(row), width(rowWidth(logits)), label(kernel::LabelOp::create(e.b, e.loc, step, row)) {
    auto larger = [&](Value a, Value b) { return e.maxf(a, b); };
    highest = e.maxLanes(foldColumns(e, width, e.splat(-HUGE_VAL), larger,
                                     [&](Value column, Value mask) { return load(column, mask); }));
    sum = sumColumns(e, width, [&](Value column, Value mask) { return power(column, mask); });
  }

  Value load(Value column, Value mask) { return e.load(logits, {row, column}, mask); }
  Value power(Value column, Value mask) { return math::ExpOp::create(e.b, e.loc, e.subf(load(column, mask), highest)); }
  Value hasLabel() { return e.less(e.index(-1), label); }

  Emitter &e;
  Value logits, row;
  int64_t width;
  Value label, highest, sum;  // of exponentials, in every lane
};

}  // namespace

// (1 - smoothing) (log sum - x[label]) + smoothing (log sum - mean x)
void expandTokenLoss(Emitter &e, kernel::TokenLossOp op) {
  double smoothing = op.getSmoothing().convertToDouble();
  eachRow(e, op, op.getLogits(), [&](Value row) {
    LossRow loss(e, op.getStep(), op.getLogits(), row);
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
    Value log = e.addf(math::LogOp::create(e.b, e.loc, loss.sum), loss.highest);
    Value mean;
    if (smoothing > 0)
      mean = e.mulf(sumColumns(e, loss.width, [&](Value column, Value mask) { return loss.load(column, mask); }),
                    e.splat(1.0 / static_cast<double>(loss.width)));
    e.choose(
        loss.hasLabel(),
        [&] {
          Value value = e.subf(log, e.broadcast(e.loadScalar(op.getLogits(), {row, loss.label})));
          if (smoothing > 0)
            value = e.addf(e.mulf(value, e.splat(1 - smoothing)), e.mulf(e.subf(log, mean), e.splat(smoothing)));
          e.storeScalar(e.lane(value, 0), op.getInit(), {row, e.index(0)});
        },
        [&] {
          e.storeScalar(zero, op.getInit(), {row, e.index(0)});
        });
  });
}

// (exp(x - highest) / sum - smoothing / V - (1 - smoothing) [v is the label]) * scale
void expandLossDgrad(Emitter &e, kernel::LossDgradOp op) {
  double smoothing = op.getSmoothing().convertToDouble();
  eachRow(e, op, op.getLogits(), [&](Value row) {
    LossRow loss(e, op.getStep(), op.getLogits(), row);
    auto storeRow = [&](llvm::function_ref<Value(Value, Value)> value) {
      e.columns(loss.width, [&](Value column, Value mask) {
        e.store(value(column, mask), op.getInit(), {row, column}, mask);
      });
    };
    e.choose(
        loss.hasLabel(),
        [&] {
          Value scale = e.broadcast(kernel::LossScaleOp::create(e.b, e.loc, op.getStep()));
          Value inverse = e.divf(e.splat(1), loss.sum);
          Value share = e.splat(smoothing / static_cast<double>(loss.width));
          storeRow([&](Value column, Value mask) {
            return e.mulf(e.subf(e.mulf(loss.power(column, mask), inverse), share), scale);
          });
          Value target = e.lane(e.mulf(e.splat(1 - smoothing), scale), 0);
          Value power = e.loadScalar(op.getInit(), {row, loss.label});
          e.storeScalar(e.subf(power, target), op.getInit(), {row, loss.label});
        },
        [&] { storeRow([&](Value, Value) { return e.splat(0); }); });
  });
}

}  // namespace talc
