// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.gather: copies a row of a table for each token; rows of a packed table element by element.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"
#include "dialects/Invariant.h"

using namespace mlir;

namespace talc {

// The number of tokens before a token, in its sequence, which begins in this step, that are not padding; -1 for
// padding.
static Value countTokens(Emitter &e, kernel::GatherOp op, Value row) {
  auto isPadding = [&](Value at) -> Value {
    Value id = kernel::IdOp::create(e.b, e.loc, op.getStep(), at), padding = e.index(*op.getPadding());
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, id, padding);
  };
  Value first = e.sub(row, kernel::PositionOp::create(e.b, e.loc, op.getStep(), row));
  Emitter::Values none = {e.index(0)};
  Emitter::Values count = e.loop(first, row, 1, none, [&](Value at, ValueRange before) -> Emitter::Values {
    return {e.select(isPadding(at), before[0], e.add(before[0], 1))};
  });
  return e.select(isPadding(row), e.index(-1), count[0]);
}

static Value gatherIndex(Emitter &e, kernel::GatherOp op, Value row) {
  switch (op.getIndex()) {
  case kernel::GatherIndex::ids:
    return kernel::IdOp::create(e.b, e.loc, op.getStep(), row);
  case kernel::GatherIndex::positions:
    return kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
  case kernel::GatherIndex::outputs:
    return kernel::OutputTokenOp::create(e.b, e.loc, op.getStep(), op.getOutput(), row);
  case kernel::GatherIndex::types:
    return kernel::TokenTypeOp::create(e.b, e.loc, op.getStep(), row);
  case kernel::GatherIndex::counted:
    return countTokens(e, op, row);
  }
  endByDefect("every index is handled");
}

static void copyRow(Emitter &e, kernel::GatherOp op, Value index, Value row) {
  Value table = op.getTable(), init = op.getInit();
  auto type = cast<MemRefType>(table.getType());
  if (type.getRank() == 2)
    return e.columns(rowWidth(init), [&](Value column, Value mask) {
      e.store(e.load(table, {index, column}, mask), init, {row, column}, mask);
    });
  int64_t lanes = type.getDimSize(2);
  Value panel = e.div(index, lanes), lane = e.rem(index, lanes);
  e.each(rowWidth(init), [&](Value column) {
    e.storeScalar(e.loadScalar(table, {panel, column, lane}), init, {row, column});
  });
}

// Rows that are not in the table are zero.
static void copyRowOrZero(Emitter &e, kernel::GatherOp op, Value index, Value row) {
  Value init = op.getInit();
  auto type = cast<MemRefType>(op.getTable().getType());
  int64_t rows = type.getDimSize(0) * (type.getRank() == 3 ? type.getDimSize(2) : 1);
  Value isInTable = arith::AndIOp::create(e.b, e.loc, e.less(e.index(-1), index), e.less(index, e.index(rows)));
  e.choose(
      isInTable, [&] { copyRow(e, op, index, row); },
      [&] {
        e.columns(rowWidth(init), [&](Value column, Value mask) { e.store(e.splat(0), init, {row, column}, mask); });
      });
}

void expandGather(Emitter &e, kernel::GatherOp op) {
  eachRow(e, op, op.getInit(), [&](Value row) {
    Value index = e.add(gatherIndex(e, op, row), static_cast<int64_t>(op.getOffset()));
    op.getPartial() ? copyRowOrZero(e, op, index, row) : copyRow(e, op, index, row);
  });
}

}  // namespace talc
