// SPDX-License-Identifier: Apache-2.0
// The loops of a task of kernel.selective_scan.
//
//   rates = -e^rates                                    of the features of the block
//   for each token, in order
//     for each row n of the block                       row = e^(rates[n] * step) * row, + (step * x) * input[n]
//                                                       y += output[n] * row
//     result = y + skip * x
//
// Lanes are features, so that no sum runs across lanes.
#include "compiler/passes/schedule/cpu/recurrence/RecurrenceLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

class SelectiveScan {
public:
  SelectiveScan(Emitter &e, kernel::SelectiveScanOp op)
      : e(e), op(op), task(e, op, op.getStep(), op.getState()), rows(task.type.getCapacity()) {}

  void expand() {
    for (int64_t column = 0; column < task.columns; column += e.lanes)
      columns.push_back(e.index(column));
    for (Value column : columns) {
      masks.push_back(task.mask(column));
      features.push_back(e.add(e.mul(task.head, task.type.getWidth()), task.columnOfHead(column)));
      skips.push_back(e.load(op.getSkip(), {features.back()}, masks.back()));
    }
    firstRow = e.mul(task.head, rows);
    rates = task.buffer({rows, task.columns});
    e.loop(e.index(0), e.index(rows), 1, [&](Value row) {
      for (auto [column, feature, mask] : llvm::zip_equal(columns, features, masks)) {
        Value rate = math::ExpOp::create(e.b, e.loc, e.load(op.getRates(), {row, feature}, mask));
        e.store(e.subf(e.splat(0), rate), rates, {row, column});
      }
    });
    e.loop(task.firstToken, task.endToken, 1, [&](Value token) { advance(token); });
  }

private:
  void advance(Value token) {
    Emitter::Values x, steps, inputs, zeros(columns.size(), e.splat(0));
    for (auto [feature, mask] : llvm::zip_equal(features, masks)) {
      x.push_back(e.load(op.getX(), {token, feature}, mask));
      steps.push_back(e.load(op.getSteps(), {token, feature}, mask));
      inputs.push_back(e.mulf(steps.back(), x.back()));
    }
    Emitter::Values sums = e.loop(e.index(0), e.index(rows), 1, zeros, [&](Value row, ValueRange before) {
      Value place = e.add(firstRow, row);
      Value input = e.broadcast(e.loadScalar(op.getInput(), {token, place})),
            output = e.broadcast(e.loadScalar(op.getOutput(), {token, place}));
      Emitter::Values next;
      for (size_t v = 0; v < columns.size(); ++v) {
        Value decay = math::ExpOp::create(e.b, e.loc, e.mulf(e.load(rates, {row, columns[v]}), steps[v]));
        Value changed = e.fma(inputs[v], input, e.mulf(decay, task.load(row, columns[v])));
        task.store(changed, row, columns[v]);
        next.push_back(e.fma(output, changed, before[v]));
      }
      return next;
    });
    for (size_t v = 0; v < columns.size(); ++v)
      e.store(e.fma(skips[v], x[v], sums[v]), op.getInit(), {token, features[v]}, masks[v]);
  }

  Emitter &e;
  kernel::SelectiveScanOp op;
  RecurrenceTask task;
  const int64_t rows;
  Emitter::Values columns, masks, features, skips;  // of the vectors of the block
  Value firstRow, rates;
};

}  // namespace

void expandSelectiveScan(Emitter &e, kernel::SelectiveScanOp op) {
  SelectiveScan(e, op).expand();
}

}  // namespace talc
