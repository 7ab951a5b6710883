// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.log_softmax: subtracts the log of the sum of exponentials, first over the words that are not in a
// cluster and all clusters, then over the words of each cluster.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

// A range of neighboring features.
struct Range {
  int64_t first, count;
};

class LogSoftmax {
public:
  LogSoftmax(Emitter &e, kernel::LogSoftmaxOp op)
      : e(e), x(op.getX()), y(op.getInit()), tails(op.getTails()), words(rowWidth(y)) {}

  void expandRow(Value at) {
    row = at;
    auto clusters = static_cast<int64_t>(tails.size());
    Range head = {0, clusters > 0 ? tails[0] : words};
    Value total = logOfSum(head, {words, clusters});
    shift(head, e.subf(e.splat(0), total));
    for (int64_t c = 0; c < clusters; ++c) {
      Range tail = {tails[c], (c + 1 < clusters ? tails[c + 1] : words) - tails[c]};
      Value cluster = e.broadcast(e.loadScalar(x, {row, e.index(words + c)}));
      shift(tail, e.subf(e.splat(0), logOfSum(tail, {0, 0})), e.subf(cluster, total));
    }
  }

private:
  Value load(const Range &range, Value column, Value mask) {
    return e.load(x, {row, e.add(column, range.first)}, mask);
  }

  Value largest(const Range &range, Value neutral) {
    auto larger = [&](Value a, Value b) { return e.maxf(a, b); };
    return foldColumns(e, range.count, neutral, larger,
                       [&](Value column, Value mask) { return load(range, column, mask); });
  }

  // The sum of e^x over both ranges, in every lane.
  Value logOfSum(const Range &range, const Range &more) {
    Value lowest = e.splat(-HUGE_VAL);
    Value highest = e.maxLanes(e.maxf(largest(range, lowest), largest(more, lowest)));
    auto sum = [&](const Range &part) {
      return sumColumns(e, part.count, [&](Value column, Value mask) -> Value {
        return math::ExpOp::create(e.b, e.loc, e.subf(load(part, column, mask), highest));
      });
    };
    return e.addf(highest, math::LogOp::create(e.b, e.loc, e.addf(sum(range), sum(more))));
  }

  // The value of the word itself is the first operand: partial results of a row are added in this order.
  void shift(const Range &range, Value by, Value more = nullptr) {
    e.columns(range.count, [&](Value column, Value mask) {
      Value shifted = e.addf(load(range, column, mask), by);
      e.store(more ? e.addf(shifted, more) : shifted, y, {row, e.add(column, range.first)}, mask);
    });
  }

  Emitter &e;
  const Value x, y;
  const ArrayRef<int64_t> tails;
  const int64_t words;
  Value row;
};

}  // namespace

void expandLogSoftmax(Emitter &e, kernel::LogSoftmaxOp op) {
  LogSoftmax loops(e, op);
  eachRow(e, op, op.getX(), [&](Value row) { loops.expandRow(row); });
}

}  // namespace talc
