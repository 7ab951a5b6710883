// SPDX-License-Identifier: Apache-2.0
// A task is a range of rows; the number of rows is computed before the tasks.
#include "compiler/passes/schedule/rows/RowLoops.h"

using namespace mlir;

namespace talc {

int64_t rowWidth(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

void eachRow(Emitter &e, Operation *op, Value memref, llvm::function_ref<void(Value)> body) {
  auto tasks = kernel::TasksOp::around(op);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(tasks);
    tasks.getExtentsMutable().assign(e.rows(memref));
  }
  e.loop(tasks.part(0), tasks.part(1), 1, body);
}

Value rowScratch(Emitter &e, Operation *op, int64_t width) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(kernel::TasksOp::around(op));
  return e.stackBuffer({1, width});
}

Value foldColumns(Emitter &e, int64_t width, Value neutral, llvm::function_ref<Value(Value, Value)> operation,
                  llvm::function_ref<Value(Value, Value)> term) {
  constexpr int64_t chains = 4;
  int64_t block = chains * e.lanes, whole = width / block * block;
  Emitter::Values folded(chains, neutral);
  if (whole > 0)
    folded = e.loop(e.index(0), e.index(whole), block, folded, [&](Value column, ValueRange carried) {
      Emitter::Values next;
      for (int64_t c = 0; c < chains; ++c)
        next.push_back(operation(carried[c], term(e.add(column, c * e.lanes), {})));
      return next;
    });
  for (int64_t column = whole; column < width; column += e.lanes) {
    Value mask = column + e.lanes > width ? e.firstLanes(width - column) : Value();
    Value value = term(e.index(column), mask);
    if (mask)
      value = e.select(mask, value, neutral);
    Value &chain = folded[(column - whole) / e.lanes];
    chain = operation(chain, value);
  }
  return operation(operation(folded[0], folded[1]), operation(folded[2], folded[3]));
}

Value sumColumns(Emitter &e, int64_t width, llvm::function_ref<Value(Value, Value)> term) {
  auto add = [&](Value x, Value y) { return e.addf(x, y); };
  return e.sumLanes(foldColumns(e, width, e.splat(0), add, term));
}

}  // namespace talc
