// SPDX-License-Identifier: Apache-2.0
// The loops of an elementwise linalg.generic.
#include "compiler/passes/schedule/rows/RowLoops.h"

#include "compiler/passes/schedule/rows/RowWiseOps.h"

using namespace mlir;

namespace talc {

void expandColumns(Emitter &e, linalg::GenericOp op, Value row, Value column, Value mask) {
  Emitter::Values arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    bool byRow = op.getMatchingIndexingMap(&operand).getNumResults() == 2;
    bool read = op.payloadUsesValueFromOperand(&operand);
    Emitter::Values at = byRow ? Emitter::Values{row, column} : Emitter::Values{column};
    arguments.push_back(read ? e.load(operand.get(), at, mask) : e.splat(0));
  }
  e.store(vectorize(e, *op.getBody(), arguments)[0], op.getDpsInits()[0], {row, column}, mask);
}

void expandElementwise(Emitter &e, linalg::GenericOp op) {
  Value init = op.getDpsInits()[0];
  eachRow(e, op, init, [&](Value row) {
    e.columns(rowWidth(init), [&](Value column, Value mask) { expandColumns(e, op, row, column, mask); });
  });
}

}  // namespace talc
