// SPDX-License-Identifier: Apache-2.0
// kernel.matmul by a workgroup: a thread has some neighbouring columns of a panel, and their sums of all rows of the
// task.
//
//   for k:  w = weight[panel, k, lane ...];  for each row and column: sum = fma(x[row, k], w, sum)
//
// Neighbouring features of a row are loaded together where they may be: all threads want the same ones. A feature that
// meets four weights of a thread is a 64th of what a single row reads, one that meets one a sixteenth. Weights in
// blocks are read one by one, and so are such rows. Each part of k (SplitKPlan.h) is one chain with k ascending, and
// chains are added one after the other, so that a sum depends on nothing but its row. Of a single row other threads
// have other parts, or with partial sums other tasks. Rows and panels beyond the last are computed as the last again,
// and not stored.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"
#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t mostRows = 8;       // of a task
constexpr int64_t together = 4;       // features of a row, weights that meet one
constexpr int64_t mostThreads = 256;  // as other pieces have

int64_t rowsOf(kernel::MatmulOp op) {
  int64_t known = cast<MemRefType>(op.getX().getType()).getDimSize(0);
  return ShapedType::isDynamic(known) ? mostRows : std::min(known, mostRows);
}

bool isInBlocks(Value buffer) {
  return isa<StoredType>(cast<MemRefType>(buffer.getType()).getElementType());
}

// A thread's: neighbours, with gates as many of gate and up each.
int64_t columnsOf(kernel::MatmulOp op, const PanelShape &panels) {
  int64_t columns = together / panels.parts;
  return isInBlocks(op.getWeight()) || panels.columns % columns != 0 ? 1 : columns;
}

// That a turn of the loop over k takes.
int64_t featuresOf(kernel::MatmulOp op, const PanelShape &panels) {
  bool fits = panels.depth % together == 0 && panels.startsAtMultiples(op, together);
  return fits && !isInBlocks(op.getX()) ? together : 1;
}

// Parts of k that threads of a workgroup have side by side: those of a single row that are no tasks of their own.
int64_t sideBySide(kernel::MatmulOp op) {
  if (cast<MemRefType>(op.getX().getType()).getDimSize(0) != 1 || op.getSplitK() > 1)
    return 1;
  const PanelShape panels(op);
  const int64_t parts = SplitKPlan(op, /*matrices=*/false).count;
  return parts * panels.columns / columnsOf(op, panels) <= mostThreads ? parts : 1;
}

class Contract {
public:
  Contract(WorkgroupEmitter &e, kernel::MatmulOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), panels(op), parts(op, /*matrices=*/false),
        alone(op.getSplitK() > 1), rowCount(rowsOf(op)), columns(columnsOf(op, panels)),
        sumCount(panels.parts * rowCount * columns), side(sideBySide(op)), threads(e.lanes / side) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {alone ? e.index(parts.count) : e.rows(op.getX()), e.index(panels.count)};
               },
               {rowCount, threads * columns / panels.columns});
    Value thread = e.rem(e.thread(), threads);
    panel = e.add(tasks.part(2), e.div(thread, panels.columns / columns));
    lane = e.mul(e.rem(thread, panels.columns / columns), columns);
    for (int64_t r = 0; r < rowCount; ++r)
      rows.push_back(e.min(e.add(tasks.part(0), r), e.sub(tasks.part(1), e.index(1))));
    Emitter::Values sums = accumulate();
    side == 1 ? finish(sums) : e.when(e.less(e.thread(), e.index(threads)), [&] { finish(sums); });
  }

private:
  void finish(ValueRange sums) {
    const int64_t count = panels.holdTogether(op, columns) ? columns : 1;
    for (int64_t c = 0; c < columns; c += count)
      e.when(panels.hasColumn(e, panel, e.add(lane, c)), [&] {
        Value column = panels.columnOf(e, panel, e.add(lane, c));
        for (int64_t r = 0; r < rowCount; ++r)
          e.when(e.less(e.add(tasks.part(0), r), tasks.part(1)), [&] { finish(r, c, count, column, sums); });
      });
  }

  // Of every row and column, and with gates first all gate sums, then all up sums.
  Emitter::Values accumulate() {
    Value known = e.min(panel, e.index(panels.count - 1));
    if (parts.count == 1)
      return sumsOf(e.index(0), known);
    if (alone)
      return sumsOf(tasks.part(0), known);
    if (side > 1)
      return sumsOfAll(known);
    Emitter::Values zeros(sumCount, e.splat(0));
    return e.loop(e.index(0), e.index(parts.count), 1, zeros, [&](Value part, ValueRange before) {
      Emitter::Values sums;
      for (auto [left, right] : llvm::zip(before, sumsOf(part, known)))
        sums.push_back(e.addf(left, right));
      return sums;
    });
  }

  // Of parts side by side, added in their order.
  Emitter::Values sumsOfAll(Value panel) {
    Value own = e.div(e.thread(), threads), thread = e.rem(e.thread(), threads);
    Value sums = e.shared({side, sumCount, threads});
    auto place = [&](Value part, size_t number) {
      return Emitter::Values{part, e.index(static_cast<int64_t>(number)), thread};
    };
    for (auto [number, sum] : llvm::enumerate(sumsOf(own, panel)))
      e.storeScalar(sum, sums, place(own, number));
    e.sync();
    Emitter::Values added(sumCount, e.splat(0));
    for (int64_t part = 0; part < side; ++part)
      for (auto [number, sum] : llvm::enumerate(added))
        sum = e.addf(sum, e.loadScalar(sums, place(e.index(part), number)));
    return added;
  }

  Emitter::Values sumsOf(Value part, Value panel) {
    const int64_t depth = panels.depth / parts.count;
    Value feature = panels.firstFeature(e, panel), begin = e.mul(part, depth), only = e.index(0);
    Emitter::Values zeros(sumCount, e.splat(0));
    const int64_t step = featuresOf(op, panels);
    return e.loop(begin, e.add(begin, depth), step, zeros, [&](Value k, ValueRange before) {
      Emitter::Values sums(before), factors;
      for (Value row : rows)
        factors.push_back(loadFeatures({alone ? only : row, e.add(feature, k)}, step));
      for (int64_t s = 0; s < step; ++s)
        sums = addProducts(sums, factors, panel, e.add(k, s), s);
      return sums;
    });
  }

  // Neighbours of a row, as a vector of f32.
  Value loadFeatures(ValueRange at, int64_t count) {
    auto floats = VectorType::get({count}, e.b.getF32Type());
    if (isInBlocks(op.getX()))
      return vector::BroadcastOp::create(e.b, e.loc, floats, e.loadScalar(op.getX(), at));
    Value line = e.loadTogether(op.getX(), at, count);
    return line.getType() == floats ? line : arith::ExtFOp::create(e.b, e.loc, floats, line).getResult();
  }

  // The sums with the products at k, which is feature s of the factors.
  Emitter::Values addProducts(ValueRange before, ValueRange factors, Value panel, Value k, int64_t s) {
    Emitter::Values sums;
    for (int64_t p = 0; p < panels.parts; ++p) {
      Emitter::Values weights = e.loadNumbers(op.getWeight(), {panel, k, e.add(lane, p * panels.columns)}, columns);
      for (Value factor : factors) {
        Value feature = vector::ExtractOp::create(e.b, e.loc, factor, s);
        for (Value weight : weights)
          sums.push_back(e.fma(feature, weight, before[sums.size()]));
      }
    }
    return sums;
  }

  // `count` columns of a row, from the thread's c-th on.
  void finish(int64_t r, int64_t c, int64_t count, Value column, ValueRange sums) {
    SmallVector<Emitter::Values> inputs;
    for (Value input : op.getInputs()) {
      bool byRow = cast<MemRefType>(input.getType()).getRank() == 2;
      inputs.push_back(e.loadNumbers(input, byRow ? Emitter::Values{rows[r], column} : Emitter::Values{column}, count));
    }
    Emitter::Values results;
    for (int64_t i = 0; i < count; ++i) {
      Emitter::Values arguments = {sums[r * columns + c + i]};
      if (op.getGated())
        arguments.push_back(sums[(rowCount + r) * columns + c + i]);
      for (const Emitter::Values &input : inputs)
        arguments.push_back(input[i]);
      results.push_back(vectorize(e, op.getEpilogue().front(), arguments)[0]);
    }
    e.storeTogether(results, op.getInit(), {rows[r], column});
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  kernel::TasksOp tasks;
  const PanelShape panels;
  const SplitKPlan parts;
  const bool alone;        // a task has one part of the only row
  const int64_t rowCount;  // of a task
  const int64_t columns;   // of a thread
  const int64_t sumCount;  // of a thread
  const int64_t side;      // parts of k that the workgroup has side by side
  const int64_t threads;   // of each of them
  Value panel, lane;       // of the thread's first column
  Emitter::Values rows;
};

}  // namespace

// As many as have 128 columns, of gates and ups together, or fewer where they have parts of k side by side.
int64_t threadsOfContract(kernel::MatmulOp op) {
  PanelShape panels(op);
  const int64_t columns = columnsOf(op, panels), side = sideBySide(op), most = columns == 1 ? 128 : 128 / together;
  return side * threadsForPanels(panels.count, panels.columns / columns, std::min(most, mostThreads / side));
}

// By itself ptxas would have room for so many threads that sums of several rows spill: a processor of a GPU has
// registers for 384 threads of one kind. It would unroll what widens blocks until these are used up, and more.
void expandContract(WorkgroupEmitter &e, kernel::MatmulOp op) {
  constexpr int64_t registers = 168;
  auto function = op->getParentOfType<func::FuncOp>();
  if (rowsOf(op) > 1) {
    function->setAttr(registersAttr, e.b.getI64IntegerAttr(registers));
    if (isInBlocks(op.getWeight()))
      function->setAttr(rolledAttr, e.b.getUnitAttr());
  }
  Contract(e, op).expand();
}

std::string tileOfContract(kernel::MatmulOp op) {
  PanelShape panels(op);
  const int64_t columns = columnsOf(op, panels), ofTask = threadsOfContract(op) / sideBySide(op) * columns;
  return llvm::formatv("{0} rows x {1} columns a task, a thread has {2}; by multiply-adds", rowsOf(op),
                       ofTask / panels.columns * panels.columns, columns);
}

}  // namespace talc
