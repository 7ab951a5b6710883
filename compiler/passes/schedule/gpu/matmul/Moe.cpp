// SPDX-License-Identifier: Apache-2.0
// kernel.experts: a token goes through the experts that its router chose, in ascending order; a thread has a column.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

struct MoeShape {
  explicit MoeShape(kernel::ExpertsOp op) {
    auto weight = cast<MemRefType>(op.getWeight().getType());
    experts = cast<MemRefType>(op.getRoutes().getType()).getDimSize(1);
    panels = weight.getDimSize(0) / experts;
    depth = weight.getDimSize(1);
    columns = weight.getDimSize(2) / (op.getGated() ? 2 : 1);
    slots = op.getSlots();
    width = cast<MemRefType>(op.getInit().getType()).getDimSize(1) / (op.getGated() ? slots : 1);
  }

  int64_t experts, panels, depth, columns, slots, width;  // panels of an expert; columns of a panel
};

class MoeExpansion {
public:
  MoeExpansion(WorkgroupEmitter &e, kernel::ExpertsOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), shape(op) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getX()), e.index(shape.panels)};
               },
               {1, e.lanes / shape.columns});
    Value thread = e.thread(), threadPanel = e.add(tasks.part(2), e.div(thread, shape.columns));
    lane = e.rem(thread, shape.columns);
    column = e.add(e.mul(threadPanel, shape.columns), lane);
    panel = e.min(threadPanel, e.index(shape.panels - 1));
    e.loop(tasks.part(0), tasks.part(1), 1, [&](Value row) { op.getGated() ? expandUp(row) : expandDown(row); });
  }

private:
  // Calls body(expert, slot, carried) for the experts of a row. A row has at most op.getSlots() of them.
  Value forEachExpert(Value row, Value init, llvm::function_ref<Value(Value, Value, Value)> body) {
    Emitter::Values start = {e.index(0), init};
    return e.loop(e.index(0), e.index(shape.experts), 1, start,
                  [&](Value expert, ValueRange before) -> Emitter::Values {
                    Value route = e.loadScalar(op.getRoutes(), {row, expert});
                    Value isChosen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, route, e.splat(0));
                    Value slot = e.min(before[0], e.index(shape.slots - 1));
                    Value carried = e.either(
                        isChosen, [&] { return body(expert, slot, before[1]); }, before[1]);
                    return {e.select(isChosen, e.add(before[0], 1), before[0]), carried};
                  })[1];
  }

  Emitter::Values computeSums(Value expert, Value row, Value firstFeature) {
    int64_t parts = op.getGated() ? 2 : 1;
    Value expertPanel = e.add(e.mul(expert, shape.panels), panel);
    Emitter::Values zeros(parts, e.splat(0));
    return e.loop(e.index(0), e.index(shape.depth), 1, zeros, [&](Value k, ValueRange before) {
      Value factor = e.loadScalar(op.getX(), {row, e.add(firstFeature, k)});
      Emitter::Values sums;
      for (int64_t p = 0; p < parts; ++p)
        sums.push_back(
            e.fma(factor, e.loadScalar(op.getWeight(), {expertPanel, k, e.add(lane, p * shape.columns)}), before[p]));
      return sums;
    });
  }

  void expandUp(Value row) {
    forEachExpert(row, e.splat(0), [&](Value expert, Value slot, Value carried) {
      Emitter::Values sums = computeSums(expert, row, e.index(0));
      e.when(e.less(column, e.index(shape.width)), [&] {
        Value slotColumn = e.add(e.mul(slot, shape.width), column);
        e.storeScalar(applyEpilogue(expert, sums), op.getInit(), {row, slotColumn});
      });
      return carried;
    });
  }

  void expandDown(Value row) {
    Value sum = forEachExpert(row, e.splat(0), [&](Value expert, Value slot, Value before) {
      Value expertSum = computeSums(expert, row, e.mul(slot, shape.depth))[0];
      Value route = e.loadScalar(op.getRoutes(), {row, expert});
      return applyEpilogue(expert, {expertSum, route, before});
    });
    e.when(e.less(column, e.index(shape.width)), [&] { e.storeScalar(sum, op.getInit(), {row, column}); });
  }

  // Applies the epilogue. Columns beyond the last one compute the last one.
  Value applyEpilogue(Value expert, Emitter::Values arguments) {
    Value clampedColumn = e.min(column, e.index(shape.width - 1));
    for (Value bias : op.getBiases())
      arguments.push_back(e.loadScalar(bias, {e.add(e.mul(expert, shape.width), clampedColumn)}));
    return vectorize(e, op.getEpilogue().front(), arguments)[0];
  }

  WorkgroupEmitter &e;
  kernel::ExpertsOp op;
  kernel::TasksOp tasks;
  const MoeShape shape;
  Value panel, lane, column;  // of the thread
};

}  // namespace

int64_t moeThreads(kernel::ExpertsOp op) {
  const MoeShape shape(op);
  return threadsForPanels(shape.panels, shape.columns);
}

void expandMoe(WorkgroupEmitter &e, kernel::ExpertsOp op) {
  MoeExpansion(e, op).expand();
}

}  // namespace talc
