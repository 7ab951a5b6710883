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
    vectors = task.vectors();
    for (const RecurrenceTask::Vector &vector : vectors)
      skips.push_back(e.load(op.getSkip(), {vector.feature}, vector.mask));
    firstRow = e.mul(task.head, rows);
    rates = task.buffer({rows, task.columns});
    e.loop(e.index(0), e.index(rows), 1, [&](Value row) {
      for (const RecurrenceTask::Vector &vector : vectors) {
        Value rate = math::ExpOp::create(e.b, e.loc, e.load(op.getRates(), {row, vector.feature}, vector.mask));
        e.store(e.subf(e.splat(0), rate), rates, {row, vector.column});
      }
    });
    e.loop(task.firstToken, task.endToken, 1, [&](Value token) { advance(token); });
  }

private:
  void advance(Value token) {
    Emitter::Values x, steps, inputs, zeros(vectors.size(), e.splat(0));
    for (const RecurrenceTask::Vector &vector : vectors) {
      x.push_back(e.load(op.getX(), {token, vector.feature}, vector.mask));
      steps.push_back(e.load(op.getSteps(), {token, vector.feature}, vector.mask));
      inputs.push_back(e.mulf(steps.back(), x.back()));
    }
    Emitter::Values sums = e.loop(e.index(0), e.index(rows), 1, zeros, [&](Value row, ValueRange before) {
      Value place = e.add(firstRow, row);
      Value input = e.broadcast(e.loadScalar(op.getInput(), {token, place})),
            output = e.broadcast(e.loadScalar(op.getOutput(), {token, place}));
      Emitter::Values next;
      for (size_t v = 0; v < vectors.size(); ++v) {
        Value decay = math::ExpOp::create(e.b, e.loc, e.mulf(e.load(rates, {row, vectors[v].column}), steps[v]));
        Value changed = e.fma(inputs[v], input, e.mulf(decay, task.load(row, vectors[v].column)));
        task.store(changed, row, vectors[v].column);
        next.push_back(e.fma(output, changed, before[v]));
      }
      return next;
    });
    for (size_t v = 0; v < vectors.size(); ++v)
      e.store(e.fma(skips[v], x[v], sums[v]), op.getInit(), {token, vectors[v].feature}, vectors[v].mask);
  }

  Emitter &e;
  kernel::SelectiveScanOp op;
  RecurrenceTask task;
  const int64_t rows;
  std::vector<RecurrenceTask::Vector> vectors;
  Emitter::Values skips;  // of the vectors
  Value firstRow, rates;
};

}  // namespace

void expandSelectiveScan(Emitter &e, kernel::SelectiveScanOp op) {
  SelectiveScan(e, op).expand();
}

}  // namespace talc
