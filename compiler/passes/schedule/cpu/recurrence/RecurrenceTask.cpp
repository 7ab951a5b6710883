// SPDX-License-Identifier: Apache-2.0
// Tasks are numbered by sequence, then by head, then by block of columns.
#include "compiler/passes/schedule/cpu/recurrence/RecurrenceLoops.h"

using namespace mlir;

namespace talc {

RecurrenceTask::RecurrenceTask(Emitter &e, Operation *op, Value step, Value state)
    : e(e), type(cast<KvCacheType>(state.getType())), tasks(kernel::TasksOp::around(op)) {
  SmallVector<int64_t> shape = kernel::columnsShape(type);
  int64_t heads = shape[0], blocks = shape[1];
  columns = shape[3];
  requireWholeSteps(columns, e.lanes, "the columns of a block");
  e.b.setInsertionPoint(tasks);
  Value spans = kernel::SpanCountOp::create(e.b, e.loc, step);
  tasks.getExtentsMutable().assign(e.mul(spans, heads * blocks));
  e.b.setInsertionPoint(op);
  Value number = tasks.part(0);
  auto span = kernel::SpanOp::create(e.b, e.loc, step, e.div(number, heads * blocks));
  head = e.rem(e.div(number, blocks), heads);
  block = e.rem(number, blocks);
  firstToken = span.getFirstToken();
  endToken = e.add(firstToken, span.getTokens());
  view = kernel::ColumnsOp::create(e.b, e.loc, MemRefType::get(shape, e.b.getF32Type()), step, state, span.getSlot());
  e.when(e.less(span.getFirstPosition(), e.index(1)), [&] {
    e.loop(e.index(0), e.index(shape[2]), 1, [&](Value row) {
      for (int64_t column = 0; column < columns; column += e.lanes)
        store(e.splat(0), row, e.index(column));
    });
  });
}

Value RecurrenceTask::buffer(ArrayRef<int64_t> shape) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(tasks);
  return e.stackBuffer(shape);
}

std::vector<RecurrenceTask::Vector> RecurrenceTask::vectors() {
  std::vector<Vector> result;
  for (int64_t at = 0; at < columns; at += e.lanes) {
    Value column = e.index(at), vectorMask = mask(column);
    result.push_back({column, e.add(e.mul(head, type.getWidth()), columnOfHead(column)), vectorMask});
  }
  return result;
}

Value RecurrenceTask::mask(Value column) {
  if (type.getWidth() % columns == 0)
    return {};
  Value rest = e.sub(e.index(type.getWidth()), columnOfHead(column));
  return e.firstLanes(e.max(rest, e.index(0)));
}

}  // namespace talc
