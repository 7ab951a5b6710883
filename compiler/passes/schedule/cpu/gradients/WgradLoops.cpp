// SPDX-License-Identifier: Apache-2.0
// Loops that add gradients of weights to buffers. Every number is one chain, tokens ascending.
#include "compiler/passes/schedule/cpu/gradients/GradientLoops.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "dialects/Invariant.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

void setTaskCount(Emitter &e, Operation *op, int64_t count) {
  auto tasks = kernel::TasksOp::around(op);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(tasks);
  tasks.getExtentsMutable().assign(e.index(count));
}

namespace {

// buffer[n, k] += sum over t of gradient[t, n] * x[t, k]
//
//                 k, a few vectors side by side
//             ---------------------------------
//   n, tile | sums in registers                |   for t ascending: sums += gradient[t, n] * x[t, k]
//             ---------------------------------
//
// A task takes several tiles of rows n, so that the columns of x that they share stay in L2.
class LinearWgradLoops {
public:
  LinearWgradLoops(Emitter &e, kernel::LinearWgradOp op)
      : e(e), op(op), rows(cast<MemRefType>(op.getBuffer().getType()).getDimSize(0)), width(rowWidth(op.getBuffer())),
        vectors(e.traits.hasLargeRegisterFile() ? 4 : 2) {}

  void expand() {
    setTaskCount(e, op, llvm::divideCeil(rows, taskRows));
    Value begin = e.mul(kernel::TasksOp::around(op).part(0), taskRows);
    Value end = e.min(e.add(begin, taskRows), e.index(rows));
    int64_t block = vectors * e.lanes, whole = width / block * block;
    if (whole > 0)
      e.loop(e.index(0), e.index(whole), block, [&](Value k) { emitTiles(begin, end, k, block); });
    if (whole < width)
      emitTiles(begin, end, e.index(whole), width - whole);
  }

private:
  static constexpr int64_t taskRows = 8 * registerTileRows;

  // Columns [k, k + columns) of the rows [begin, end).
  void emitTiles(Value begin, Value end, Value k, int64_t columns) {
    int64_t rest = rows % registerTileRows;
    Value wholeEnd = rest == 0 ? end : e.min(end, e.index(rows - rest));
    e.loop(begin, wholeEnd, registerTileRows, [&](Value n) { emitTile(n, registerTileRows, k, columns); });
    if (rest > 0)
      e.when(e.less(wholeEnd, end), [&] { emitTile(wholeEnd, rest, k, columns); });
  }

  void emitTile(Value n, int64_t tileRows, Value k, int64_t columns) {
    int64_t count = llvm::divideCeil(columns, e.lanes);
    SmallVector<Value> places, masks;
    for (int64_t v = 0; v < count; ++v) {
      int64_t rest = columns - v * e.lanes;
      places.push_back(e.add(k, v * e.lanes));
      masks.push_back(rest < e.lanes ? e.firstLanes(rest) : Value());
    }
    Emitter::Values sums;
    for (int64_t r = 0; r < tileRows; ++r)
      for (int64_t v = 0; v < count; ++v)
        sums.push_back(e.load(op.getBuffer(), {e.add(n, r), places[v]}, masks[v]));
    sums = e.loop(e.index(0), e.rows(op.getX()), 1, sums, [&](Value t, ValueRange before) {
      Emitter::Values x, next;
      for (int64_t v = 0; v < count; ++v)
        x.push_back(e.load(op.getX(), {t, places[v]}, masks[v]));
      for (int64_t r = 0; r < tileRows; ++r) {
        Value gradient = e.broadcast(e.loadScalar(op.getGradient(), {t, e.add(n, r)}));
        for (int64_t v = 0; v < count; ++v)
          next.push_back(e.fma(gradient, x[v], before[r * count + v]));
      }
      return next;
    });
    for (int64_t r = 0; r < tileRows; ++r)
      for (int64_t v = 0; v < count; ++v)
        e.store(sums[r * count + v], op.getBuffer(), {e.add(n, r), places[v]}, masks[v]);
  }

  Emitter &e;
  kernel::LinearWgradOp op;
  const int64_t rows, width, vectors;
};

// Runs body(column, mask) for the vector of columns of this task.
void eachVectorTask(Emitter &e, Operation *op, int64_t width, llvm::function_ref<void(Value, Value)> body) {
  setTaskCount(e, op, llvm::divideCeil(width, e.lanes));
  Value column = e.mul(kernel::TasksOp::around(op).part(0), e.lanes);
  Value mask = width % e.lanes == 0 ? Value() : e.firstLanes(e.sub(e.index(width), column));
  body(column, mask);
}

Value scatterIndex(Emitter &e, kernel::ScatterAddOp op, Value token) {
  switch (op.getIndex()) {
  case kernel::GatherIndex::ids:
    return kernel::IdOp::create(e.b, e.loc, op.getStep(), token);
  case kernel::GatherIndex::positions:
    return kernel::PositionOp::create(e.b, e.loc, op.getStep(), token);
  case kernel::GatherIndex::types:
    return kernel::TokenTypeOp::create(e.b, e.loc, op.getStep(), token);
  case kernel::GatherIndex::outputs:
  case kernel::GatherIndex::counted:
    break;
  }
  endByDefect("the verifier refuses other indices");
}

}  // namespace

void expandLinearWgrad(Emitter &e, kernel::LinearWgradOp op) {
  LinearWgradLoops(e, op).expand();
}

void expandSumRows(Emitter &e, kernel::SumRowsOp op) {
  int64_t length = rowWidth(op.getBuffer()), width = rowWidth(op.getGradient());
  eachVectorTask(e, op, length, [&](Value column, Value mask) {
    Emitter::Values sum = {e.load(op.getBuffer(), {column}, mask)};
    sum = e.loop(e.index(0), e.rows(op.getGradient()), 1, sum, [&](Value t, ValueRange before) -> Emitter::Values {
      Value next = before[0];
      for (int64_t from = 0; from < width; from += length)
        next = e.addf(next, e.load(op.getGradient(), {t, e.add(column, from)}, mask));
      return {next};
    });
    e.store(sum[0], op.getBuffer(), {column}, mask);
  });
}

void expandScatterAdd(Emitter &e, kernel::ScatterAddOp op) {
  auto table = cast<MemRefType>(op.getBuffer().getType());
  eachVectorTask(e, op, table.getDimSize(1), [&](Value column, Value mask) {
    e.loop(e.index(0), e.rows(op.getGradient()), 1, [&](Value t) {
      Value row = e.add(scatterIndex(e, op, t), static_cast<int64_t>(op.getOffset()));
      Value isInTable =
          arith::AndIOp::create(e.b, e.loc, e.less(e.index(-1), row), e.less(row, e.index(table.getDimSize(0))));
      e.when(isInTable, [&] {
        Value sum = e.addf(e.load(op.getBuffer(), {row, column}, mask), e.load(op.getGradient(), {t, column}, mask));
        e.store(sum, op.getBuffer(), {row, column}, mask);
      });
    });
  });
}

}  // namespace talc
