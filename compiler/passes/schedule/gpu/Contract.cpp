// SPDX-License-Identifier: Apache-2.0
// kernel.contract by a workgroup: a thread has a column of the panels and the sums of all rows of the task.
//
//   for k:  w = weight[panel, k, lane];  for each row: sum = fma(x[row, k], w, sum)
//
// Each sum is one chain with k ascending, so that it depends on nothing but its row. Rows and panels beyond the last
// are computed as the last again, and not stored.
#include "compiler/passes/schedule/gpu/WorkgroupPieces.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t mostRows = 8;  // of a task

struct Sizes {
  explicit Sizes(kernel::ContractOp op) {
    auto weight = cast<MemRefType>(op.getWeight().getType());
    panels = weight.getDimSize(0);
    depth = weight.getDimSize(1);
    columns = weight.getDimSize(2) / (op.getGated() ? 2 : 1);
    width = cast<MemRefType>(op.getInit().getType()).getDimSize(1);
    int64_t known = cast<MemRefType>(op.getX().getType()).getDimSize(0);
    rows = ShapedType::isDynamic(known) ? mostRows : std::min(known, mostRows);
  }

  int64_t panels, depth, columns, width, rows;  // columns: of a panel
};

class Contract {
public:
  Contract(WorkgroupEmitter &e, kernel::ContractOp op) : e(e), op(op), tasks(kernel::TasksOp::around(op)), sizes(op) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getX()), e.index(sizes.panels)};
               },
               {sizes.rows, e.lanes / sizes.columns});
    Value thread = e.thread();
    panel = e.add(tasks.part(2), e.div(thread, sizes.columns));
    lane = e.rem(thread, sizes.columns);
    for (int64_t r = 0; r < sizes.rows; ++r)
      rows.push_back(e.min(e.add(tasks.part(0), r), e.sub(tasks.part(1), e.index(1))));
    Emitter::Values sums = accumulate();
    Value column = e.add(e.mul(panel, sizes.columns), lane);
    e.when(e.less(column, e.index(sizes.width)), [&] {
      for (int64_t r = 0; r < sizes.rows; ++r)
        e.when(e.less(e.add(tasks.part(0), r), tasks.part(1)), [&] { finish(r, column, sums); });
    });
  }

private:
  // Of every row, and with gates first all gate sums, then all up sums.
  Emitter::Values accumulate() {
    int64_t parts = op.getGated() ? 2 : 1;
    Value known = e.min(panel, e.index(sizes.panels - 1));
    Emitter::Values zeros(parts * sizes.rows, e.splat(0));
    return e.loop(e.index(0), e.index(sizes.depth), 1, zeros, [&](Value k, ValueRange before) {
      Emitter::Values sums, weights, factors;
      for (int64_t p = 0; p < parts; ++p)
        weights.push_back(e.loadScalar(op.getWeight(), {known, k, e.add(lane, p * sizes.columns)}));
      for (Value row : rows)
        factors.push_back(e.loadScalar(op.getX(), {row, k}));
      for (int64_t i = 0; i < parts * sizes.rows; ++i)
        sums.push_back(e.fma(factors[i % sizes.rows], weights[i / sizes.rows], before[i]));
      return sums;
    });
  }

  void finish(int64_t r, Value column, ValueRange sums) {
    Emitter::Values arguments = {sums[r]};
    if (op.getGated())
      arguments.push_back(sums[sizes.rows + r]);
    for (Value input : op.getInputs()) {
      bool byRow = cast<MemRefType>(input.getType()).getRank() == 2;
      arguments.push_back(e.loadScalar(input, byRow ? Emitter::Values{rows[r], column} : Emitter::Values{column}));
    }
    e.storeScalar(vectorize(e, op.getEpilogue().front(), arguments)[0], op.getInit(), {rows[r], column});
  }

  WorkgroupEmitter &e;
  kernel::ContractOp op;
  kernel::TasksOp tasks;
  const Sizes sizes;
  Value panel, lane;  // of the thread
  Emitter::Values rows;
};

}  // namespace

int64_t threadsOfContract(kernel::ContractOp op) {
  Sizes sizes(op);
  return threadsForPanels(sizes.panels, sizes.columns);
}

void expandContract(WorkgroupEmitter &e, kernel::ContractOp op) {
  Contract(e, op).expand();
}

}  // namespace talc
