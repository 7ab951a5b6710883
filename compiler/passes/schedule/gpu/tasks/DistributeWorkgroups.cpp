// SPDX-License-Identifier: Apache-2.0
// distribute-workgroups: gives every task a workgroup; the grid of a launch follows from the step.
//
//   kernel.tasks over tiles of (%n, 24) grain [8, 4] { ^bb0(%row, %end, ...): body }
//     ->  body for rows [8 * x, min(8 * x + 8, %n)), panels [4 * y, ...) in workgroup (x, y)
//         #kernel.launch<..., grid = <rows_argument = 1, divisor = 8, y = 6>>     x = ceil(rows of argument 1 / 8)
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "dialects/Invariant.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_DISTRIBUTEWORKGROUPS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// See #kernel.grid.
struct Grid {
  int64_t rowsArgument = -1, divisor = 1, plus = 0, y = 1;

  kernel::GridAttr attribute(MLIRContext *context) const {
    return kernel::GridAttr::get(context, rowsArgument, divisor, plus, y);
  }
};

// A workgroup for each block of so many rows. The number of rows is a constant, or that of an argument.
FailureOr<Grid> makeGrid(kernel::TasksOp tasks, Value rows, int64_t block) {
  Grid grid;
  if (std::optional<int64_t> constant = getConstantIntValue(rows)) {
    grid.plus = llvm::divideCeil(*constant, block);
    return grid;
  }
  auto size = rows.getDefiningOp<memref::DimOp>();
  auto argument = size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
  if (!argument || getConstantIntValue(size.getIndex()) != 0)
    return tasks.emitOpError("has as many rows as no argument");
  grid.rowsArgument = argument.getArgNumber();
  grid.divisor = block;
  return grid;
}

class Workgroups {
public:
  explicit Workgroups(kernel::TasksOp tasks) : builder(tasks), e(builder, tasks.getLoc(), 1), tasks(tasks) {}

  FailureOr<Grid> distribute() {
    switch (tasks.getSpace()) {
    case kernel::TaskSpace::rows:
      return distributeRows();
    case kernel::TaskSpace::heads:
      return distributeHeads();
    case kernel::TaskSpace::tiles:
      return distributeTiles();
    case kernel::TaskSpace::queries:
      return distributeQueries();
    case kernel::TaskSpace::keys:
      return distributeKeys();
    }
    talc::endByDefect("every space has workgroups");
  }

private:
  Value x() { return e.workgroup(/*inY=*/false); }
  Value y() { return e.workgroup(/*inY=*/true); }

  FailureOr<Grid> distributeRows() {
    Value row = x();
    inlineBody(e, tasks, {row, e.add(row, 1)});
    return makeGrid(tasks, tasks.getExtents()[0], 1);
  }

  FailureOr<Grid> distributeHeads() {
    inlineBody(e, tasks, {x()});
    return makeGrid(tasks, tasks.getExtents()[0], 1);
  }

  FailureOr<Grid> distributeTiles() {
    Value rows = tasks.getExtents()[0], panels = tasks.getExtents()[1];
    int64_t rowBlock = tasks.getGrain()[0], group = tasks.getGrain()[1];
    Value row = e.mul(x(), rowBlock), panel = e.mul(y(), group), end = e.min(e.add(panel, group), panels);
    inlineBody(e, tasks, {row, e.min(e.add(row, rowBlock), rows), panel, end, end});
    FailureOr<Grid> grid = makeGrid(tasks, rows, rowBlock);
    if (succeeded(grid))
      grid->y = llvm::divideCeil(*getConstantIntValue(panels), group);
    return grid;
  }

  // The index of the sequence that a row belongs to.
  Value findSpan(Value row) {
    Value step = tasks.getStep(), spans = kernel::SpanCountOp::create(e.b, e.loc, step);
    return e.loop(e.index(0), spans, 1, ValueRange{e.index(0)}, [&](Value s, ValueRange before) -> Emitter::Values {
      auto span = kernel::SpanOp::create(e.b, e.loc, step, s);
      return {e.select(e.less(row, span.getFirstToken()), before[0], s)};
    })[0];
  }

  // x is a token of the step and y a key-value head, repeated where a token has more queries of the head than a task:
  // the workgroup does the task that begins at this token, if there is one.
  FailureOr<Grid> distributeQueries() {
    Value step = tasks.getStep(), one = e.index(1), rows = tasks.getExtents()[0];
    int64_t heads = *getConstantIntValue(tasks.getExtents()[1]), queries = *getConstantIntValue(tasks.getExtents()[2]);
    int64_t block = tasks.getGrain()[0], tasksPerRow = llvm::divideCeil(queries, block);
    Value row = x(), head = y(), sequence = getConstantIntValue(rows) == 1 ? e.index(0) : findSpan(row);
    auto span = kernel::SpanOp::create(e.b, e.loc, step, sequence);
    Value rowQuery = e.mul(e.sub(row, span.getFirstToken()), queries), end = e.mul(span.getTokens(), queries);
    Value first = e.mul(e.add(e.ceilDiv(rowQuery, block), e.rem(head, tasksPerRow)), block);
    e.when(e.less(first, e.add(rowQuery, queries)), [&] {
      Value count = e.min(e.sub(end, first), e.index(block));
      inlineBody(e, tasks, {sequence, e.div(head, tasksPerRow), one, first, count});
    });
    FailureOr<Grid> grid = makeGrid(tasks, rows, 1);
    if (succeeded(grid))
      grid->y = heads * tasksPerRow;
    return grid;
  }

  // The result has a row for every block of keys that may be visible, and there are as many workgroups: the last ones
  // have nothing to do.
  FailureOr<Grid> distributeKeys() {
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
        tasks.emitOpError("contains a compute op that has not been expanded");
        return signalPassFailure();
      }
      auto function = tasks->getParentOfType<func::FuncOp>();
      FailureOr<Grid> grid = Workgroups(tasks).distribute();
      if (failed(grid))
        return signalPassFailure();
      PassRemarks("schedule", "distribute-workgroups").did(tasks, [&] {
        return llvm::formatv("{0} x {1} workgroups",
                             grid->rowsArgument >= 0 ? llvm::formatv("(rows / {0})", grid->divisor).str()
                                                     : std::to_string(grid->plus),
                             grid->y);
      });
      kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(function);
      if (!launch) {
        function.emitOpError("has tasks, but no ") << kernel::LaunchAttr::attrName;
        return signalPassFailure();
      }
      function->setAttr(kernel::LaunchAttr::attrName, launch.withGrid(grid->attribute(&getContext())));
      tasks.erase();
    }
  }
};

}  // namespace
