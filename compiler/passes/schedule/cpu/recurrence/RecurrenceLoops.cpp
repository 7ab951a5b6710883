// SPDX-License-Identifier: Apache-2.0
// The loops of a task of kernel.recurrence.
//
//   for each token, in order
//     d = e^(-e^rate * decay)
//     known = sum over rows of (d k) * row            of the delta rule
//     u = factor * (v - known)
//     for each row of the block                       row = d * row, + k * u;   y += q * row
//     result = y + skip * v
//
// The vectors of a row of the block are side by side in registers, and each is a chain of its own: no sum runs across
// lanes, so that results do not depend on the width of vectors.
#include "compiler/passes/schedule/cpu/recurrence/RecurrenceLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

class RecurrenceLoops {
public:
  RecurrenceLoops(Emitter &e, kernel::RecurrenceOp op)
      : e(e), op(op), task(e, op, op.getStep(), op.getState()), rows(task.type.getCapacity()) {}

  void expand() {
    vectors = task.vectors();
    int64_t group = task.type.getHeads() * rows / cast<ShapedType>(op.getKeys().getType()).getDimSize(1);
    firstKey = e.mul(e.div(task.head, group), rows);
    rate = math::ExpOp::create(e.b, e.loc, ofHead(op.getRates()));
    skip = op.getSkip() ? ofHead(op.getSkip()) : Value();
    e.loop(task.firstToken, task.endToken, 1, [&](Value token) { advance(token); });
  }

private:
  Value ofHead(Value vector) { return e.broadcast(e.loadScalar(vector, {task.head})); }
  Value ofToken(Value x, Value token) { return e.broadcast(e.loadScalar(x, {token, task.head})); }
  Value feature(Value x, Value token, Value row) { return e.broadcast(e.loadScalar(x, {token, e.add(firstKey, row)})); }

  void advance(Value token) {
    Value exponent = e.subf(e.splat(0), e.mulf(rate, ofToken(op.getDecay(), token)));
    Value decay = math::ExpOp::create(e.b, e.loc, exponent);
    Emitter::Values values, updates, zeros(vectors.size(), e.splat(0));
    for (const RecurrenceTask::Vector &vector : vectors)
      values.push_back(e.load(op.getValues(), {token, vector.feature}, vector.mask));
    Emitter::Values known = op.getUpdate() == RecurrenceUpdate::delta ? read(token, decay, zeros) : Emitter::Values();
    Value factor = ofToken(op.getFactors(), token);
    for (size_t v = 0; v < values.size(); ++v)
      updates.push_back(e.mulf(factor, known.empty() ? values[v] : e.subf(values[v], known[v])));
    Emitter::Values sums = update(token, decay, updates, zeros);
    for (size_t v = 0; v < values.size(); ++v)
      e.store(skip ? e.fma(skip, values[v], sums[v]) : sums[v], op.getInit(), {token, vectors[v].feature},
              vectors[v].mask);
  }

  // Returns what the decayed key reads.
  Emitter::Values read(Value token, Value decay, const Emitter::Values &zeros) {
    return e.loop(e.index(0), e.index(rows), 1, zeros, [&](Value row, ValueRange sums) {
      Value key = e.mulf(decay, feature(op.getKeys(), token, row));
      Emitter::Values next;
      for (auto [vector, sum] : llvm::zip_equal(vectors, sums))
        next.push_back(e.fma(key, task.load(row, vector.column), sum));
      return next;
    });
  }

  // Changes the block; returns what the query reads of it.
  Emitter::Values update(Value token, Value decay, const Emitter::Values &updates, const Emitter::Values &zeros) {
    return e.loop(e.index(0), e.index(rows), 1, zeros, [&](Value row, ValueRange sums) {
      Value key = feature(op.getKeys(), token, row), query = feature(op.getQueries(), token, row);
      Emitter::Values next;
      for (auto [vector, added, sum] : llvm::zip_equal(vectors, updates, sums)) {
        Value changed = e.fma(key, added, e.mulf(decay, task.load(row, vector.column)));
        task.store(changed, row, vector.column);
        next.push_back(e.fma(query, changed, sum));
      }
      return next;
    });
  }

  Emitter &e;
  kernel::RecurrenceOp op;
  RecurrenceTask task;
  const int64_t rows;
  std::vector<RecurrenceTask::Vector> vectors;
  Value firstKey, rate, skip;
};

}  // namespace

void expandRecurrence(Emitter &e, kernel::RecurrenceOp op) {
  RecurrenceLoops(e, op).expand();
}

}  // namespace talc
