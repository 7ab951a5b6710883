// SPDX-License-Identifier: Apache-2.0
// The loops of memref.copy.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

using namespace mlir;

namespace talc {

void expandCopy(Emitter &e, memref::CopyOp op) {
  eachRow(e, op, op.getTarget(), [&](Value row) {
    e.columns(rowWidth(op.getTarget()), [&](Value column, Value mask) {
      e.store(e.load(op.getSource(), {row, column}, mask), op.getTarget(), {row, column}, mask);
    });
  });
}

}  // namespace talc
