// SPDX-License-Identifier: Apache-2.0
// kernel.experts by a workgroup: a row goes through the experts that it chose, in ascending order; a thread has a
// column.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

struct Sizes {
  explicit Sizes(kernel::ExpertsOp op) {
    auto weight = cast<MemRefType>(op.getWeight().getType());
    experts = cast<MemRefType>(op.getRoutes().getType()).getDimSize(1);
    panels = weight.getDimSize(0) / experts;
    depth = weight.getDimSize(1);
    columns = weight.getDimSize(2) / (op.getGated() ? 2 : 1);
    slots = op.getSlots();
    width = cast<MemRefType>(op.getInit().getType()).getDimSize(1) / (op.getGated() ? slots : 1);
  }

  int64_t experts, panels, depth, columns, slots, width;  // panels: of an expert; columns: of a panel
};

class Experts {
public:
  Experts(WorkgroupEmitter &e, kernel::ExpertsOp op) : e(e), op(op), tasks(kernel::TasksOp::around(op)), sizes(op) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getX()), e.index(sizes.panels)};
               },
               {1, e.lanes / sizes.columns});
    Value thread = e.thread(), own = e.add(tasks.part(2), e.div(thread, sizes.columns));
    lane = e.rem(thread, sizes.columns);
    column = e.add(e.mul(own, sizes.columns), lane);
    panel = e.min(own, e.index(sizes.panels - 1));
    e.loop(tasks.part(0), tasks.part(1), 1, [&](Value row) { op.getGated() ? firstHalf(row) : secondHalf(row); });
  }

private:
  // body(expert, slot, what was carried) for the experts of a row; a row has no more slots than it says.
  Value eachExpert(Value row, Value init, llvm::function_ref<Value(Value, Value, Value)> body) {
    Emitter::Values none = {e.index(0), init};
    return e.loop(e.index(0), e.index(sizes.experts), 1, none, [&](Value expert, ValueRange before) -> Emitter::Values {
      Value route = e.loadScalar(op.getRoutes(), {row, expert});
      Value chosen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, route, e.splat(0));
      Value slot = e.min(before[0], e.index(sizes.slots - 1));
      Value found = e.either(
          chosen, [&] { return body(expert, slot, before[1]); }, before[1]);
      return {e.select(chosen, e.add(before[0], 1), before[0]), found};
    })[1];
  }

  Emitter::Values sumsOf(Value expert, Value row, Value firstFeature) {
    int64_t parts = op.getGated() ? 2 : 1;
    Value place = e.add(e.mul(expert, sizes.panels), panel);
    Emitter::Values zeros(parts, e.splat(0));
    return e.loop(e.index(0), e.index(sizes.depth), 1, zeros, [&](Value k, ValueRange before) {
      Value factor = e.loadScalar(op.getX(), {row, e.add(firstFeature, k)});
      Emitter::Values sums;
      for (int64_t p = 0; p < parts; ++p)
        sums.push_back(
            e.fma(factor, e.loadScalar(op.getWeight(), {place, k, e.add(lane, p * sizes.columns)}), before[p]));
      return sums;
    });
  }

  void firstHalf(Value row) {
    eachExpert(row, e.splat(0), [&](Value expert, Value slot, Value nothing) {
      Emitter::Values sums = sumsOf(expert, row, e.index(0));
      e.when(e.less(column, e.index(sizes.width)), [&] {
        Value at = e.add(e.mul(slot, sizes.width), column);
        e.storeScalar(finish(expert, sums), op.getInit(), {row, at});
      });
      return nothing;
    });
  }

  void secondHalf(Value row) {
    Value all = eachExpert(row, e.splat(0), [&](Value expert, Value slot, Value before) {
      Value sum = sumsOf(expert, row, e.mul(slot, sizes.depth))[0];
      Value route = e.loadScalar(op.getRoutes(), {row, expert});
      return finish(expert, {sum, route, before});
    });
    e.when(e.less(column, e.index(sizes.width)), [&] { e.storeScalar(all, op.getInit(), {row, column}); });
  }

  // What the epilogue yields, of a column that is there or is the last again.
  Value finish(Value expert, Emitter::Values arguments) {
    Value known = e.min(column, e.index(sizes.width - 1));
    for (Value bias : op.getBiases())
      arguments.push_back(e.loadScalar(bias, {e.add(e.mul(expert, sizes.width), known)}));
    return vectorize(e, op.getEpilogue().front(), arguments)[0];
  }

  WorkgroupEmitter &e;
  kernel::ExpertsOp op;
  kernel::TasksOp tasks;
  const Sizes sizes;
  Value panel, lane, column;  // of the thread
};

}  // namespace

int64_t threadsOfExperts(kernel::ExpertsOp op) {
  Sizes sizes(op);
  return threadsForPanels(sizes.panels, sizes.columns);
}

void expandExperts(WorkgroupEmitter &e, kernel::ExpertsOp op) {
  Experts(e, op).expand();
}

}  // namespace talc
