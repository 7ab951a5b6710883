// SPDX-License-Identifier: Apache-2.0
// distribute-workgroups: every task is a workgroup's; how many a launch takes follows from the step.
//
//   kernel.tasks over tiles of (%n, 24) grain [8, 4] { ^bb0(%row, %end, ...): body }
//     ->  body of rows [8 * x, min(8 * x + 8, %n)), panels [4 * y, ...) in workgroup (x, y)
//         {kernel.grid = {rows = 1, divisor = 8, plus = 0, y = 6}}     x = ceil(rows of argument 1 / 8)
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_DISTRIBUTEWORKGROUPS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// x = plus + ceil(rows of an argument / divisor)
struct Grid {
  std::optional<int64_t> rows;
  int64_t divisor = 1, plus = 0, y = 1;

  DictionaryAttr attribute(MLIRContext *context) const {
    Builder b(context);
    SmallVector<NamedAttribute> fields;
    auto add = [&](StringRef name, int64_t value) {
      fields.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    };
    if (rows)
      add("rows", *rows);
    add("divisor", divisor);
    add("plus", plus);
    add("y", y);
    return b.getDictionaryAttr(fields);
  }
};

// Blocks of so many rows, whose number is known or an argument's.
FailureOr<Grid> gridOf(kernel::TasksOp tasks, Value rows, int64_t block) {
  Grid grid;
  if (std::optional<int64_t> known = getConstantIntValue(rows)) {
    grid.plus = llvm::divideCeil(*known, block);
    return grid;
  }
  auto size = rows.getDefiningOp<memref::DimOp>();
  auto argument = size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
  if (!argument || getConstantIntValue(size.getIndex()) != 0)
    return tasks.emitOpError("has as many rows as no argument");
  grid.rows = argument.getArgNumber();
  grid.divisor = block;
  return grid;
}

class Workgroups {
public:
  explicit Workgroups(kernel::TasksOp tasks) : builder(tasks), e(builder, tasks.getLoc(), 1), tasks(tasks) {}

  FailureOr<Grid> place() {
    switch (tasks.getSpace()) {
    case kernel::TaskSpace::rows:
      return placeRows();
    case kernel::TaskSpace::heads:
      return placeHeads();
    case kernel::TaskSpace::tiles:
      return placeTiles();
    case kernel::TaskSpace::queries:
      return placeQueries();
    case kernel::TaskSpace::keys:
      return placeKeys();
    }
    llvm_unreachable("every space has workgroups");
  }

private:
  Value x() { return e.workgroup(/*inY=*/false); }
  Value y() { return e.workgroup(/*inY=*/true); }

  FailureOr<Grid> placeRows() {
    Value row = x();
    inlineBody(e, tasks, {row, e.add(row, 1)});
    return gridOf(tasks, tasks.getExtents()[0], 1);
  }

  FailureOr<Grid> placeHeads() {
    inlineBody(e, tasks, {x()});
    return gridOf(tasks, tasks.getExtents()[0], 1);
  }

  FailureOr<Grid> placeTiles() {
    Value rows = tasks.getExtents()[0], panels = tasks.getExtents()[1];
    int64_t rowBlock = tasks.getGrain()[0], group = tasks.getGrain()[1];
    Value row = e.mul(x(), rowBlock), panel = e.mul(y(), group), end = e.min(e.add(panel, group), panels);
    inlineBody(e, tasks, {row, e.min(e.add(row, rowBlock), rows), panel, end, end});
    FailureOr<Grid> grid = gridOf(tasks, rows, rowBlock);
    if (succeeded(grid))
      grid->y = llvm::divideCeil(*getConstantIntValue(panels), group);
    return grid;
  }

  // The number of the sequence that a row belongs to.
  Value spanOf(Value row) {
    Value step = tasks.getStep(), spans = kernel::SpanCountOp::create(e.b, e.loc, step);
    return e.loop(e.index(0), spans, 1, ValueRange{e.index(0)}, [&](Value s, ValueRange before) -> Emitter::Values {
      auto span = kernel::SpanOp::create(e.b, e.loc, step, s);
      return {e.select(e.less(row, span.getFirstToken()), before[0], s)};
    })[0];
  }

  // x is a row of the step, y a key-value head, more than once where a row has more of its queries than a task: the
  // workgroup has the task that begins in this row, if one does.
  FailureOr<Grid> placeQueries() {
    Value step = tasks.getStep(), one = e.index(1), rows = tasks.getExtents()[0];
    int64_t heads = *getConstantIntValue(tasks.getExtents()[1]), queries = *getConstantIntValue(tasks.getExtents()[2]);
    int64_t block = tasks.getGrain()[0], perRow = llvm::divideCeil(queries, block);
    Value row = x(), head = y(), sequence = getConstantIntValue(rows) == 1 ? e.index(0) : spanOf(row);
    auto span = kernel::SpanOp::create(e.b, e.loc, step, sequence);
    Value ofRow = e.mul(e.sub(row, span.getFirstToken()), queries), end = e.mul(span.getTokens(), queries);
    Value first = e.mul(e.add(e.ceilDiv(ofRow, block), e.rem(head, perRow)), block);
    e.when(e.less(first, e.add(ofRow, queries)), [&] {
      Value count = e.min(e.sub(end, first), e.index(block));
      inlineBody(e, tasks, {sequence, e.div(head, perRow), one, first, count});
    });
    FailureOr<Grid> grid = gridOf(tasks, rows, 1);
    if (succeeded(grid))
      grid->y = heads * perRow;
    return grid;
  }

  // What tasks write has a row for every block that may be seen, and there are as many workgroups: the last find
  // nothing to do.
  FailureOr<Grid> placeKeys() {
    Grid grid;
    tasks.walk([&](memref::StoreOp store) {
      if (isa<BlockArgument>(store.getMemRef()))
        grid.plus = store.getMemRefType().getDimSize(0);
    });
    Value block = e.add(tasks.getExtents()[0], x());
    e.when(e.less(block, tasks.getExtents()[1]), [&] { inlineBody(e, tasks, {block, y()}); });
    grid.y = *getConstantIntValue(tasks.getExtents()[2]);
    return grid;
  }

  OpBuilder builder;
  WorkgroupEmitter e;
  kernel::TasksOp tasks;
};

struct DistributeWorkgroups : talc::impl::DistributeWorkgroupsBase<DistributeWorkgroups> {
  void runOnOperation() override {
    SmallVector<kernel::TasksOp> all;
    getOperation().walk([&](kernel::TasksOp tasks) { all.push_back(tasks); });
    for (kernel::TasksOp tasks : all) {
      if (tasks.getExtents().empty()) {
        tasks.emitOpError("holds a piece that has not become loops");
        return signalPassFailure();
      }
      auto function = tasks->getParentOfType<func::FuncOp>();
      FailureOr<Grid> grid = Workgroups(tasks).place();
      if (failed(grid))
        return signalPassFailure();
      PassRemarks("schedule", "distribute-workgroups").did(tasks, [&] {
        return llvm::formatv(
            "{0} x {1} workgroups",
            grid->rows ? llvm::formatv("(rows / {0})", grid->divisor).str() : std::to_string(grid->plus), grid->y);
      });
      function->setAttr(gridAttr, grid->attribute(&getContext()));
      tasks.erase();
    }
  }
};

}  // namespace
