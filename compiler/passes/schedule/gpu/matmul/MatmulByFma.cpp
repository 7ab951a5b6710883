// SPDX-License-Identifier: Apache-2.0
// kernel.matmul by fused multiply-adds: a thread has a few neighboring columns of a panel, and their sums for all rows
// of the task.
//
//   for k:  w = weight[panel, k, lane ...];  for each row and column: sum = fma(x[row, k], w, sum)
//
// All threads need the same features of a row, which are loaded as vectors where rows are aligned. Weights in quant
// blocks are dequantized one by one, and so are such rows. Each split-K part (SplitKPlan.h) is one chain of FMAs with
// ascending k, and chains are added one after the other, so that a sum depends on its row alone. For a single row,
// parts are done by other threads of the workgroup, or by other tasks. Rows and panels beyond the last one compute the
// last one again, and are not stored.
#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"
#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t vectorWidth = 4;   // features of a row, and columns of a thread
constexpr int64_t maxThreads = 256;  // of a workgroup

bool isQuantized(Value buffer) {
  return isa<StoredType>(cast<MemRefType>(buffer.getType()).getElementType());
}

// The plan of an op: its tuning parameters, and what follows from them.
struct FmaPlan {
  explicit FmaPlan(kernel::MatmulOp op);
  FmaPlan(kernel::MatmulOp op, kernel::PlanAttr given, std::string &problem);

  std::string findContradiction(kernel::MatmulOp op, const PanelShape &panels) const;

  FmaTunables tunables;
  OccupancyTunables occupancy;
};

FmaPlan::FmaPlan(kernel::MatmulOp op) {
  std::string problem;  // expand-workgroups has reported it
  *this = FmaPlan(op, getPlan(op), problem);
}

// Without a limit, ptxas chooses an occupancy at which the sums of several rows spill.
FmaPlan::FmaPlan(kernel::MatmulOp op, kernel::PlanAttr given, std::string &problem) {
  constexpr int64_t usualRows = 8, usualColumns = 128, usualResidentThreads = 384;
  const PanelShape panels(op);
  const int64_t rows = cast<MemRefType>(op.getX().getType()).getDimSize(0), columns = vectorWidth / panels.parts;
  tunables.taskRows = ShapedType::isDynamic(rows) ? usualRows : std::min(rows, usualRows);
  tunables.threadColumns = isQuantized(op.getWeight()) || panels.columns % columns != 0 ? 1 : columns;
  // For 128 columns, of gate and up together.
  tunables.taskThreads = tunables.threadColumns == 1 ? usualColumns : usualColumns / vectorWidth;
  occupancy.residentThreads = tunables.taskRows > 1 ? usualResidentThreads : 0;
  readTunables(given, tunables, problem);
  readTunables(given, occupancy, problem);
  if (problem.empty())
    problem = findContradiction(op, panels);
}

std::string FmaPlan::findContradiction(kernel::MatmulOp op, const PanelShape &panels) const {
  const int64_t rows = cast<MemRefType>(op.getX().getType()).getDimSize(0), columns = tunables.threadColumns;
  if (!ShapedType::isDynamic(rows) && tunables.taskRows > rows)
    return llvm::formatv("task_rows is {0}, and there are {1} rows", tunables.taskRows, rows);
  if (!llvm::isPowerOf2_64(static_cast<uint64_t>(columns)) || panels.columns % columns != 0)
    return llvm::formatv("thread_columns is {0}, expected a power of two that divides the {1} columns of a panel",
                         columns, panels.columns);
  if (columns > 1 && isQuantized(op.getWeight()))
    return llvm::formatv("thread_columns is {0}, expected 1 for weights in quant blocks", columns);
  if (!llvm::isPowerOf2_64(static_cast<uint64_t>(tunables.taskThreads)))
    return llvm::formatv("task_threads is {0}, expected a power of two", tunables.taskThreads);
  return "";
}

// Features of an iteration over k.
int64_t featuresPerStep(kernel::MatmulOp op, const PanelShape &panels) {
  bool isAligned = panels.depth % vectorWidth == 0 && panels.hasAlignedRows(op, vectorWidth);
  return isAligned && !isQuantized(op.getX()) ? vectorWidth : 1;
}

// Split-K parts of a single row that a workgroup does at the same time, if they are not tasks of their own.
int64_t concurrentParts(kernel::MatmulOp op, const GpuFacts &gpu) {
  if (cast<MemRefType>(op.getX().getType()).getDimSize(0) != 1 || op.getSplitK() > 1)
    return 1;
  const PanelShape panels(op);
  const int64_t parts = SplitKPlan(op, gpu).count;
  return parts * panels.columns / FmaPlan(op).tunables.threadColumns <= maxThreads ? parts : 1;
}

class FmaMatmul {
public:
  FmaMatmul(WorkgroupEmitter &e, kernel::MatmulOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), panels(op), splitK(op, e.gpu), isOnePart(op.getSplitK() > 1),
        rowCount(FmaPlan(op).tunables.taskRows), columns(FmaPlan(op).tunables.threadColumns),
        sumCount(panels.parts * rowCount * columns), concurrent(concurrentParts(op, e.gpu)),
        threads(e.lanes / concurrent) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {isOnePart ? e.index(splitK.count) : e.rows(op.getX()), e.index(panels.count)};
               },
               {rowCount, threads * columns / panels.columns});
    Value thread = e.rem(e.thread(), threads);
    panel = e.add(tasks.part(2), e.div(thread, panels.columns / columns));
    lane = e.mul(e.rem(thread, panels.columns / columns), columns);
    for (int64_t r = 0; r < rowCount; ++r)
      rows.push_back(e.min(e.add(tasks.part(0), r), e.sub(tasks.part(1), e.index(1))));
    Emitter::Values sums = accumulate();
    concurrent == 1 ? storeAll(sums) : e.when(e.less(e.thread(), e.index(threads)), [&] { storeAll(sums); });
  }

private:
  void storeAll(ValueRange sums) {
    const int64_t count = panels.canVectorizeColumns(op, columns) ? columns : 1;
    for (int64_t c = 0; c < columns; c += count)
      e.when(panels.hasColumn(e, panel, e.add(lane, c)), [&] {
        Value column = panels.columnIndex(e, panel, e.add(lane, c));
        for (int64_t r = 0; r < rowCount; ++r)
          e.when(e.less(e.add(tasks.part(0), r), tasks.part(1)), [&] { storeColumns(r, c, count, column, sums); });
      });
  }

  // The sums of every row and column; of a gated matmul first all gate sums, then all up sums.
  Emitter::Values accumulate() {
    Value clampedPanel = e.min(panel, e.index(panels.count - 1));
    if (splitK.count == 1)
      return sumPart(e.index(0), clampedPanel);
    if (isOnePart)
      return sumPart(tasks.part(0), clampedPanel);
    if (concurrent > 1)
      return addConcurrentParts(clampedPanel);
    Emitter::Values zeros(sumCount, e.splat(0));
    return e.loop(e.index(0), e.index(splitK.count), 1, zeros, [&](Value part, ValueRange before) {
      Emitter::Values sums;
      for (auto [sum, partial] : llvm::zip(before, sumPart(part, clampedPanel)))
        sums.push_back(e.addf(sum, partial));
      return sums;
    });
  }

  // Each thread sums its part; then all add the parts in order.
  Emitter::Values addConcurrentParts(Value panel) {
    Value part = e.div(e.thread(), threads), thread = e.rem(e.thread(), threads);
    Value sums = e.shared({concurrent, sumCount, threads});
    auto index = [&](Value part, size_t number) {
      return Emitter::Values{part, e.index(static_cast<int64_t>(number)), thread};
    };
    for (auto [number, sum] : llvm::enumerate(sumPart(part, panel)))
      e.storeScalar(sum, sums, index(part, number));
    e.sync();
    Emitter::Values added(sumCount, e.splat(0));
    for (int64_t part = 0; part < concurrent; ++part)
      for (auto [number, sum] : llvm::enumerate(added))
        sum = e.addf(sum, e.loadScalar(sums, index(e.index(part), number)));
    return added;
  }

  Emitter::Values sumPart(Value part, Value panel) {
    const int64_t depth = panels.depth / splitK.count;
    Value feature = panels.firstFeature(e, panel), begin = e.mul(part, depth), onlyRow = e.index(0);
    Emitter::Values zeros(sumCount, e.splat(0));
    const int64_t step = featuresPerStep(op, panels);
    return e.loop(begin, e.add(begin, depth), step, zeros, [&](Value k, ValueRange before) {
      Emitter::Values sums(before), features;
      for (Value row : rows)
        features.push_back(loadFeatures({isOnePart ? onlyRow : row, e.add(feature, k)}, step));
      for (int64_t s = 0; s < step; ++s)
        sums = addProducts(sums, features, panel, e.add(k, s), s);
      return sums;
    });
  }

  // Neighboring features of a row, as a vector of f32.
  Value loadFeatures(ValueRange at, int64_t count) {
    auto floats = VectorType::get({count}, e.b.getF32Type());
    if (isQuantized(op.getX()))
      return vector::BroadcastOp::create(e.b, e.loc, floats, e.loadScalar(op.getX(), at));
    Value vector = e.loadVector(op.getX(), at, count);
    return vector.getType() == floats ? vector : arith::ExtFOp::create(e.b, e.loc, floats, vector).getResult();
  }

  // Adds the products at k, which is feature s of the vectors in `features`.
  Emitter::Values addProducts(ValueRange before, ValueRange features, Value panel, Value k, int64_t s) {
    Emitter::Values sums;
    for (int64_t p = 0; p < panels.parts; ++p) {
      Emitter::Values weights = e.loadValues(op.getWeight(), {panel, k, e.add(lane, p * panels.columns)}, columns);
      for (Value vector : features) {
        Value feature = vector::ExtractOp::create(e.b, e.loc, vector, s);
        for (Value weight : weights)
          sums.push_back(e.fma(feature, weight, before[sums.size()]));
      }
    }
    return sums;
  }

  // Applies the epilogue to `count` columns of a row, from the thread's c-th on.
  void storeColumns(int64_t r, int64_t c, int64_t count, Value column, ValueRange sums) {
    SmallVector<Emitter::Values> inputs;
    for (Value input : op.getInputs()) {
      bool hasRows = cast<MemRefType>(input.getType()).getRank() == 2;
      inputs.push_back(
          e.loadValues(input, hasRows ? Emitter::Values{rows[r], column} : Emitter::Values{column}, count));
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
    e.storeVector(results, op.getInit(), {rows[r], column});
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  kernel::TasksOp tasks;
  const PanelShape panels;
  const SplitKPlan splitK;
  const bool isOnePart;      // a task has one part of the only row
  const int64_t rowCount;    // of a task
  const int64_t columns;     // of a thread
  const int64_t sumCount;    // of a thread
  const int64_t concurrent;  // split-K parts that the workgroup does at the same time
  const int64_t threads;     // of each of them
  Value panel, lane;         // of the thread's first column
  Emitter::Values rows;
};

}  // namespace

// Fewer threads have the columns of a task where split-K parts are concurrent.
int64_t fmaThreads(kernel::MatmulOp op, const GpuFacts &gpu) {
  const PanelShape panels(op);
  const FmaTunables tunables = FmaPlan(op).tunables;
  const int64_t concurrent = concurrentParts(op, gpu);
  return concurrent * threadsForPanels(panels.count, panels.columns / tunables.threadColumns,
                                       std::min(tunables.taskThreads, maxThreads / concurrent));
}

// For several rows, ptxas would unroll the dequantization of weights until registers run out.
void expandByFma(WorkgroupEmitter &e, kernel::MatmulOp op) {
  const FmaPlan plan(op);
  e.limits.maxRegisters = e.gpu.registersForThreads(plan.occupancy.residentThreads);
  e.limits.keepLoops = plan.tunables.taskRows > 1 && isQuantized(op.getWeight());
  FmaMatmul(e, op).expand();
}

kernel::PlanAttr planByFma(kernel::MatmulOp op, const GpuFacts &, kernel::PlanAttr given, std::string &problem) {
  const FmaPlan plan(op, given, problem);
  return writePlan(op.getContext(), OccupancyTunables::parameters(), plan.occupancy,
                   writePlan(op.getContext(), FmaTunables::parameters(), plan.tunables));
}

std::string describeFmaTile(kernel::MatmulOp op, const GpuFacts &gpu) {
  const PanelShape panels(op);
  const FmaTunables tunables = FmaPlan(op).tunables;
  const int64_t columns = tunables.threadColumns;
  const int64_t taskColumns = fmaThreads(op, gpu) / concurrentParts(op, gpu) * columns;
  return llvm::formatv("{0} rows x {1} columns a task, {2} columns a thread; by FMA", tunables.taskRows,
                       taskColumns / panels.columns * panels.columns, columns);
}

}  // namespace talc
