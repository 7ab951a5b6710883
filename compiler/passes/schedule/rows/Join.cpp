// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.join: for each head, copies the features of x, then those of y.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

using namespace mlir;

namespace talc {

void expandJoin(Emitter &e, kernel::JoinOp op) {
  int64_t heads = op.getHeads(), width = rowWidth(op.getInit()) / heads;
  eachRow(e, op, op.getInit(), [&](Value row) {
    e.loop(e.index(0), e.index(heads), 1, [&](Value head) {
      Value to = e.mul(head, width);
      for (Value from : {op.getX(), op.getY()}) {
        int64_t features = rowWidth(from) / heads;
        Value first = e.mul(head, features);
        e.columns(features, [&](Value column, Value mask) {
          e.store(e.load(from, {row, e.add(first, column)}, mask), op.getInit(), {row, e.add(to, column)}, mask);
        });
        to = e.add(to, features);
      }
    });
  });
}

}  // namespace talc
