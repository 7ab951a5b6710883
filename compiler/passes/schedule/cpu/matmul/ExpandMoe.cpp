// SPDX-License-Identifier: Apache-2.0
// expand-moe: the loops of a task of kernel.experts.
//
//   for each expert                                  ascending, so that a row adds what its experts say in this order
//     which rows of the task chose it, and in which slot
//     these rows times the task's panels of the expert: the loops of a contraction, whose rows stand in the list
//       row by row: epilogue, store
//
//   routes   e0 e1 e2        rows of e0: 0 2    of e1: 0 1    of e2: 1 2       the rows of an expert need not be
//   row 0     x  x           slots:      0 0           1 0           1 1       neighbours: a tile takes them from a
//   row 1        x  x                                                          list
//   row 2     x     x
//
// A panel stays in cache while the rows of its expert pass; those of an expert that no row chose are not read. A row's
// sums are the same whichever rows stand beside it.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulLoops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDMOE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class Experts {
public:
  Experts(Emitter &e, kernel::TasksOp tasks, kernel::ExpertsOp op)
      : e(e), tasks(tasks), op(op), experts(cast<MemRefType>(op.getRoutes().getType()).getDimSize(1)),
        c{e,
          MatmulPlan(MatmulShape::of(op), e.lanes, tasks.getPlanAttr()),
          tasks,
          op.getX(),
          op.getWeight(),
          op.getInit(),
          [this](const MatmulContext &, const StoredSums &sums, Value rows, Value panels, Value panel) {
            finish(sums, rows, panels, panel);
          },
          [this](Value place) { return placeOf(place); }},
        plan(c.plan) {}

  void expand() {
    PassRemarks("schedule", "expand-moe").did(op, [&] {
      return llvm::formatv("{0} experts of {1} panels: tiles of {2} rows that chose the same one x {3} lanes", experts,
                           plan.panels, plan.tileRows, plan.tileLanes(plan.tileRows));
    });
    int64_t known = cast<MemRefType>(op.getX().getType()).getDimSize(0);
    bool few = !ShapedType::isDynamic(known) && known <= plan.tileRows;
    // In front of the tasks, so that the stack belongs to the function's frame. A row more: see list().
    MatmulLoops loops(c, few ? known : 0, /*byAmx=*/false);
    for (Value *numbers : {&chosen, &slotOf, &used})
      *numbers = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({taskRows() + 1}, e.b.getIndexType()));
    tasks.getExtentsMutable().assign({e.rows(op.getX()), e.index(plan.panels)});
    tasks.setGrain({taskRows(), plan.taskPanels});
    e.b.setInsertionPoint(op);
    auto product = [&](Value count, const MatmulLoops::Panels &panels) {
      if (few)
        return loops.emit(e.index(0), known == 1 ? e.index(1) : count, panels);
      e.loop(e.index(0), count, plan.blockRows,
             [&](Value at) { loops.emit(at, e.min(e.sub(count, at), e.index(plan.blockRows)), panels); });
    };
    // Without claims a thread has all rows at once.
    e.loop(tasks.part(0), tasks.part(1), taskRows(),
           [&](Value first) { block(first, e.min(tasks.part(1), e.add(first, taskRows())), product); });
  }

private:
  using Product = llvm::function_ref<void(Value count, const MatmulLoops::Panels &panels)>;

  // As many of each expert as a contraction's task has, if all are chosen alike.
  int64_t taskRows() {
    constexpr int64_t most = 1024;
    int64_t rows = plan.blockRows * experts / static_cast<int64_t>(op.getSlots());
    return std::max(plan.blockRows, std::min(rows, most));
  }

  void block(Value first, Value end, Product product) {
    e.loop(first, end, 1, [&](Value row) {
      setIndex(used, e.sub(row, first), e.index(0));
      if (!op.getGated())
        clear(row);
    });
    e.loop(e.index(0), e.index(experts), 1, [&](Value number) {
      expert = number;
      Value count = list(first, end), next = e.add(expert, 1);
      Value later = e.select(e.less(next, e.index(experts)), panelOf(next, tasks.part(2)), tasks.part(4));
      MatmulLoops::Panels panels = {panelOf(expert, tasks.part(2)), panelOf(expert, tasks.part(3)), later};
      e.when(e.less(e.index(0), count), [&] { product(count, panels); });
    });
  }

  Value panelOf(Value expert, Value panel) { return e.add(e.mul(expert, plan.panels), panel); }

  // The columns of the task's panels.
  void clear(Value row) {
    Value begin = e.mul(tasks.part(2), plan.panelColumns),
          end = e.min(e.mul(tasks.part(3), plan.panelColumns), e.index(plan.width));
    e.loop(begin, end, e.lanes, [&](Value column) {
      e.store(e.splat(0), op.getInit(), {row, column}, e.firstLanes(e.sub(end, column)));
    });
  }

  // The rows that chose the expert, and their slots; returns how many. What is stored behind the last is written over.
  Value list(Value first, Value end) {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
    Emitter::Values none = {e.index(0)};
    return e.loop(first, end, 1, none, [&](Value row, ValueRange count) -> Emitter::Values {
      Value place = e.sub(row, first), slot = getIndex(used, place);
      setIndex(chosen, count[0], row);
      setIndex(slotOf, count[0], slot);
      Value route = e.loadScalar(op.getRoutes(), {row, expert});
      Value isChosen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, route, zero);
      setIndex(used, place, e.select(isChosen, e.add(slot, 1), slot));
      return {e.select(isChosen, e.add(count[0], 1), count[0])};
    })[0];
  }

  RowAddress placeOf(Value place) {
    return {getIndex(chosen, place), op.getGated() ? Value() : e.mul(slotAt(place), plan.depth)};
  }

  // A row has no more slots than it says; what routes say that were not made by kernel.route is not trusted.
  Value slotAt(Value place) { return e.min(getIndex(slotOf, place), e.index(op.getSlots() - 1)); }

  void finish(const StoredSums &sums, Value rows, Value panels, Value panel) {
    e.loop(e.index(0), rows, 1, [&](Value row) {
      Value place = e.add(sums.firstRow, row), own = getIndex(chosen, place), slot = slotAt(place);
      e.loop(e.index(0), panels, 1, [&](Value p) { finishRow(sums, row, own, slot, e.add(panel, p)); });
    });
  }

  // Of the gated half vectors are no wider than the columns of a panel.
  void finishRow(const StoredSums &sums, Value place, Value row, Value slot, Value panel) {
    Emitter out(e.b, e.loc, std::min(e.lanes, plan.panelColumns));
    Value first = out.mul(out.sub(panel, panelOf(expert, out.index(0))), plan.panelColumns);
    out.loop(out.index(0), out.index(plan.panelColumns), out.lanes, [&](Value lane) {
      Value column = out.add(first, lane), mask;
      if (plan.width % plan.panelColumns != 0)
        mask = out.firstLanes(out.max(out.sub(out.index(plan.width), column), out.index(0)));
      auto sum = [&](int64_t offset) {
        return out.load(sums.memory(c), {sums.row(c, place), out.add(out.add(sums.column(c, panel), lane), offset)});
      };
      Value at = op.getGated() ? out.add(out.mul(slot, plan.width), column) : column;
      Emitter::Values arguments = {sum(0)};
      if (op.getGated())
        arguments.push_back(sum(plan.panelColumns));
      else
        arguments.append(
            {out.broadcast(out.loadScalar(op.getRoutes(), {row, expert})), out.load(op.getInit(), {row, at}, mask)});
      Value ofExpert = out.add(out.mul(expert, plan.width), column);
      for (Value bias : op.getBiases())
        arguments.push_back(out.load(bias, {ofExpert}, mask));
      out.store(vectorize(out, op.getEpilogue().front(), arguments)[0], op.getInit(), {row, at}, mask);
    });
  }

  Value getIndex(Value numbers, Value at) { return memref::LoadOp::create(e.b, e.loc, numbers, at); }
  void setIndex(Value numbers, Value at, Value value) { memref::StoreOp::create(e.b, e.loc, value, numbers, at); }

  Emitter &e;
  kernel::TasksOp tasks;
  kernel::ExpertsOp op;
  const int64_t experts;
  const MatmulContext c;  // of an expert's panels
  const MatmulPlan &plan;
  Value chosen, slotOf, used;
  Value expert;  // whose rows are in the list
};

struct ExpandMoe : talc::impl::ExpandMoeBase<ExpandMoe> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::ExpertsOp> pieces;
    getOperation().walk([&](kernel::ExpertsOp op) { pieces.push_back(op); });
    for (kernel::ExpertsOp op : pieces) {
      kernel::TasksOp tasks = getPlannedTasks(op);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), lanes);
      Experts(emitter, tasks, op).expand();
      op.erase();
      shareAddresses(tasks);
    }
  }
};

}  // namespace
