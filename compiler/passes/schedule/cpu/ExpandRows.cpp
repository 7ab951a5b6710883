// SPDX-License-Identifier: Apache-2.0
// expand-rows: loops for the pieces that treat each row by itself: gather, norm, softmax, rope, append (AppendRows.h),
// elementwise, copy.
//
// A row is a few kilobytes and stays in L1, so a norm may pass over it three times.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/Emitter.h"
#include "compiler/passes/schedule/cpu/AppendRows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDROWS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

static int64_t widthOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

// body(row) for the task's rows of `memref`
static void eachRow(Emitter &e, Operation *piece, Value memref, llvm::function_ref<void(Value)> body) {
  auto tasks = kernel::TasksOp::around(piece);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(tasks);
    tasks.getExtentsMutable().assign(e.rows(memref));
  }
  e.loop(tasks.part(0), tasks.part(1), 1, body);
}

//===--- gather -----------------------------------------------------------------------------------------------===//

static Value gatherIndex(Emitter &e, kernel::GatherOp op, Value row) {
  switch (op.getIndex()) {
  case kernel::GatherIndex::ids:
    return kernel::IdOp::create(e.b, e.loc, op.getStep(), row);
  case kernel::GatherIndex::positions:
    return kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
  case kernel::GatherIndex::outputs:
    return kernel::OutputRowOp::create(e.b, e.loc, op.getStep(), op.getOutput(), row);
  case kernel::GatherIndex::types:
    return kernel::TokenTypeOp::create(e.b, e.loc, op.getStep(), row);
  }
  llvm_unreachable("every index is handled");
}

static void expand(Emitter &e, kernel::GatherOp op) {
  Value table = op.getTable(), init = op.getInit();
  auto type = cast<MemRefType>(table.getType());
  eachRow(e, op, init, [&](Value row) {
    Value index = e.add(gatherIndex(e, op, row), op.getOffset());
    if (type.getRank() == 2)
      return e.columns(widthOf(init), [&](Value column, Value mask) {
        e.store(e.load(table, {index, column}, mask), init, {row, column}, mask);
      });
    int64_t lanes = type.getDimSize(2);
    Value panel = e.div(index, lanes), lane = e.rem(index, lanes);
    e.loop(e.index(0), e.index(widthOf(init)), 1, [&](Value column) {
      e.storeScalar(e.loadScalar(table, {panel, column, lane}), init, {row, column});
    });
  });
}

//===--- norm -------------------------------------------------------------------------------------------------===//

// term(column, mask) of all columns under an operation, lane by lane, in four chains; masked lanes count as `neutral`.
static Value foldColumns(Emitter &e, int64_t width, Value neutral, llvm::function_ref<Value(Value, Value)> operation,
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

static Value sumColumns(Emitter &e, int64_t width, llvm::function_ref<Value(Value, Value)> term) {
  auto add = [&](Value x, Value y) { return e.addf(x, y); };
  return e.sumLanes(foldColumns(e, width, e.splat(0), add, term));
}

static void normalize(Emitter &e, kernel::NormOp op, Value row, Value base, int64_t width) {
  auto x = [&](Value column, Value mask) { return e.load(op.getX(), {row, e.add(base, column)}, mask); };
  bool centred = op.getKind() == NormKind::layer;
  Value mean = e.splat(0), inverse = e.splat(1.0 / width);
  if (centred)
    mean = e.mulf(sumColumns(e, width, x), inverse);
  auto deviation = [&](Value column, Value mask) { return centred ? e.subf(x(column, mask), mean) : x(column, mask); };
  Value squares = sumColumns(e, width, [&](Value column, Value mask) {
    Value d = deviation(column, mask);
    return e.mulf(d, d);
  });
  Value variance = e.addf(e.mulf(squares, inverse), e.splat(op.getEpsilon().convertToDouble()));
  Value factor = e.divf(e.splat(1), math::SqrtOp::create(e.b, e.loc, variance));
  e.columns(width, [&](Value column, Value mask) {
    Value y = e.mulf(e.mulf(deviation(column, mask), factor), e.load(op.getScale(), {column}, mask));
    if (op.getBias())
      y = e.addf(y, e.load(op.getBias(), {column}, mask));
    e.store(y, op.getInit(), {row, e.add(base, column)}, mask);
  });
}

static void expand(Emitter &e, kernel::NormOp op) {
  int64_t groups = op.getGroups(), width = widthOf(op.getX()) / groups;
  eachRow(e, op, op.getX(), [&](Value row) {
    e.loop(e.index(0), e.index(groups), 1, [&](Value group) { normalize(e, op, row, e.mul(group, width), width); });
  });
}

//===--- softmax ----------------------------------------------------------------------------------------------===//

static void expand(Emitter &e, kernel::SoftmaxOp op) {
  int64_t width = widthOf(op.getX());
  Value x = op.getX(), y = op.getInit();
  eachRow(e, op, x, [&](Value row) {
    auto larger = [&](Value a, Value b) { return e.maxf(a, b); };
    auto load = [&](Value column, Value mask) { return e.load(x, {row, column}, mask); };
    Value highest = e.maxLanes(foldColumns(e, width, e.splat(-HUGE_VAL), larger, load));
    Value sum = sumColumns(e, width, [&](Value column, Value mask) {
      Value power = math::ExpOp::create(e.b, e.loc, e.subf(load(column, mask), highest));
      e.store(power, y, {row, column}, mask);
      return power;
    });
    Value factor = e.divf(e.splat(1), sum);
    e.columns(width, [&](Value column, Value mask) {
      e.store(e.mulf(e.load(y, {row, column}, mask), factor), y, {row, column}, mask);
    });
  });
}

//===--- rope -------------------------------------------------------------------------------------------------===//

static void expand(Emitter &e, kernel::RopeOp op) {
  int64_t heads = op.getHeads(), width = widthOf(op.getX()) / heads, half = widthOf(op.getTable()) / 2;
  eachRow(e, op, op.getX(), [&](Value row) {
    Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
    e.loop(e.index(0), e.index(heads), 1, [&](Value head) {
      Value base = e.mul(head, width);
      e.columns(half, [&](Value column, Value mask) {
        Value low = e.add(base, column), high = e.add(low, half);
        Value cosine = e.load(op.getTable(), {position, column}, mask);
        Value sine = e.load(op.getTable(), {position, e.add(column, half)}, mask);
        Value x = e.load(op.getX(), {row, low}, mask), y = e.load(op.getX(), {row, high}, mask);
        e.store(e.subf(e.mulf(x, cosine), e.mulf(y, sine)), op.getInit(), {row, low}, mask);
        e.store(e.addf(e.mulf(y, cosine), e.mulf(x, sine)), op.getInit(), {row, high}, mask);
      });
      Value rest = e.add(base, 2 * half);
      e.columns(width - 2 * half, [&](Value column, Value mask) {
        Value at = e.add(rest, column);
        e.store(e.load(op.getX(), {row, at}, mask), op.getInit(), {row, at}, mask);
      });
    });
  });
}

static void expand(Emitter &e, kernel::AppendOp op) {
  expandAppend(e.b, op, e.lanes);
}

//===--- elementwise and copies -------------------------------------------------------------------------------===//

static void expand(Emitter &e, linalg::GenericOp op) {
  Value init = op.getDpsInits()[0];
  eachRow(e, op, init, [&](Value row) {
    e.columns(widthOf(init), [&](Value column, Value mask) {
      Emitter::Values arguments;
      for (OpOperand &operand : op->getOpOperands()) {
        bool byRow = op.getMatchingIndexingMap(&operand).getNumResults() == 2;
        bool read = op.payloadUsesValueFromOperand(&operand);
        Emitter::Values at = byRow ? Emitter::Values{row, column} : Emitter::Values{column};
        arguments.push_back(read ? e.load(operand.get(), at, mask) : e.splat(0));
      }
      e.store(vectorize(e, *op.getBody(), arguments)[0], init, {row, column}, mask);
    });
  });
}

static void expand(Emitter &e, memref::CopyOp op) {
  eachRow(e, op, op.getTarget(), [&](Value row) {
    e.columns(widthOf(op.getTarget()), [&](Value column, Value mask) {
      e.store(e.load(op.getSource(), {row, column}, mask), op.getTarget(), {row, column}, mask);
    });
  });
}

namespace {

struct ExpandRows : talc::impl::ExpandRowsBase<ExpandRows> {
  using Base::Base;

  template <typename... Ops> void expandAll() {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa<Ops...>(op))
        found.push_back(op);
    });
    for (Operation *op : found) {
      if (!tasksAround(op))
        return signalPassFailure();
      OpBuilder builder(op);
      Emitter emitter(builder, op->getLoc(), lanes);
      TypeSwitch<Operation *>(op).Case<Ops...>([&](auto piece) { expand(emitter, piece); });
      op->erase();
    }
  }

  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    expandAll<kernel::GatherOp, kernel::NormOp, kernel::SoftmaxOp, kernel::RopeOp, kernel::AppendOp, linalg::GenericOp,
              memref::CopyOp>();
  }
};

}  // namespace
