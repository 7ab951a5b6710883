// SPDX-License-Identifier: Apache-2.0
// kernel.contract by a workgroup: a thread has a column of the panels and the sums of all rows of the task.
//
//   for k:  w = weight[panel, k, lane];  for each row: sum = fma(x[row, k], w, sum)
//
// Neighbouring features of a row are loaded together where they may be: all threads want the same ones.
// Each part of k (DepthParts.h) is one chain with k ascending, and chains are added one after the other, so that a sum
// depends on nothing but its row. With partial sums a task has one part of the only row. Rows and panels beyond the
// last are computed as the last again, and not stored.
#include "compiler/passes/schedule/gpu/ContractPanels.h"
#include "compiler/passes/schedule/gpu/DepthParts.h"
#include "compiler/passes/schedule/gpu/WorkgroupPieces.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t mostRows = 8;  // of a task
constexpr int64_t together = 4;  // features of a row

int64_t rowsOf(kernel::ContractOp op) {
  int64_t known = cast<MemRefType>(op.getX().getType()).getDimSize(0);
  return ShapedType::isDynamic(known) ? mostRows : std::min(known, mostRows);
}

class Contract {
public:
  Contract(WorkgroupEmitter &e, kernel::ContractOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), panels(op), parts(op, /*matrices=*/false),
        alone(kernel::partialSumsOf(op) > 0), rowCount(rowsOf(op)) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {alone ? e.index(parts.count) : e.rows(op.getX()), e.index(panels.count)};
               },
               {rowCount, e.lanes / panels.columns});
    Value thread = e.thread();
    panel = e.add(tasks.part(2), e.div(thread, panels.columns));
    lane = e.rem(thread, panels.columns);
    for (int64_t r = 0; r < rowCount; ++r)
      rows.push_back(e.min(e.add(tasks.part(0), r), e.sub(tasks.part(1), e.index(1))));
    Emitter::Values sums = accumulate();
    Value column = panels.columnOf(e, panel, lane);
    e.when(panels.hasColumn(e, panel, lane), [&] {
      for (int64_t r = 0; r < rowCount; ++r)
        e.when(e.less(e.add(tasks.part(0), r), tasks.part(1)), [&] { finish(r, column, sums); });
    });
  }

private:
  // Of every row, and with gates first all gate sums, then all up sums.
  Emitter::Values accumulate() {
    Value known = e.min(panel, e.index(panels.count - 1));
    if (parts.count == 1)
      return sumsOf(e.index(0), known);
    if (alone)
      return sumsOf(tasks.part(0), known);
    Emitter::Values zeros(panels.parts * rowCount, e.splat(0));
    return e.loop(e.index(0), e.index(parts.count), 1, zeros, [&](Value part, ValueRange before) {
      Emitter::Values sums;
      for (auto [left, right] : llvm::zip(before, sumsOf(part, known)))
        sums.push_back(e.addf(left, right));
      return sums;
    });
  }

  Emitter::Values sumsOf(Value part, Value panel) {
    const int64_t depth = panels.depth / parts.count;
    Value feature = panels.firstFeature(e, panel), begin = e.mul(part, depth), only = e.index(0);
    Emitter::Values zeros(panels.parts * rowCount, e.splat(0));
    int64_t step = panels.depth % together == 0 && panels.startsAtMultiples(op, together) ? together : 1;
    return e.loop(begin, e.add(begin, depth), step, zeros, [&](Value k, ValueRange before) {
      Emitter::Values sums(before), factors;
      for (Value row : rows)
        factors.push_back(e.loadTogether(op.getX(), {alone ? only : row, e.add(feature, k)}, step));
      for (int64_t s = 0; s < step; ++s)
        sums = addProducts(sums, factors, panel, e.add(k, s), s);
      return sums;
    });
  }

  // The sums with the products at k, which is feature s of the factors.
  Emitter::Values addProducts(ValueRange before, ValueRange factors, Value panel, Value k, int64_t s) {
    Emitter::Values sums;
    for (int64_t p = 0; p < panels.parts; ++p) {
      Value weight = e.loadScalar(op.getWeight(), {panel, k, e.add(lane, p * panels.columns)});
      for (Value factor : factors)
        sums.push_back(e.fma(vector::ExtractOp::create(e.b, e.loc, factor, s), weight, before[sums.size()]));
    }
    return sums;
  }

  void finish(int64_t r, Value column, ValueRange sums) {
    Emitter::Values arguments = {sums[r]};
    if (op.getGated())
      arguments.push_back(sums[rowCount + r]);
    for (Value input : op.getInputs()) {
      bool byRow = cast<MemRefType>(input.getType()).getRank() == 2;
      arguments.push_back(e.loadScalar(input, byRow ? Emitter::Values{rows[r], column} : Emitter::Values{column}));
    }
    e.storeScalar(vectorize(e, op.getEpilogue().front(), arguments)[0], op.getInit(), {rows[r], column});
  }

  WorkgroupEmitter &e;
  kernel::ContractOp op;
  kernel::TasksOp tasks;
  const ContractPanels panels;
  const DepthParts parts;
  const bool alone;        // a task has one part of the only row
  const int64_t rowCount;  // of a task
  Value panel, lane;       // of the thread
  Emitter::Values rows;
};

}  // namespace

int64_t threadsOfContract(kernel::ContractOp op) {
  ContractPanels panels(op);
  return threadsForPanels(panels.count, panels.columns);
}

void expandContract(WorkgroupEmitter &e, kernel::ContractOp op) {
  Contract(e, op).expand();
}

std::string tileOfContract(kernel::ContractOp op) {
  ContractPanels panels(op);
  return llvm::formatv("{0} rows x {1} columns a task, a thread has a column; by multiply-adds", rowsOf(op),
                       threadsOfContract(op) / panels.columns * panels.columns);
}

}  // namespace talc
