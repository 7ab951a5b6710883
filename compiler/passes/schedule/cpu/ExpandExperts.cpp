// SPDX-License-Identifier: Apache-2.0
// expand-experts: the loops of a task of kernel.experts.
//
//   for each expert                                  ascending, so that a row adds what its experts say in this order
//     which rows of the task chose it, and in which slot
//     for each panel of the task
//       for each tile of some of these rows          accumulators; for k: vectors of the panel, a broadcast per row
//         row by row: epilogue, store
//
//   routes   e0 e1 e2        rows of e0: 0 2    of e1: 0 1    of e2: 1 2       the rows of an expert need not be
//   row 0     x  x           slots:      0 0           1 0           1 1       neighbours: a tile takes them from a
//   list row 1        x  x row 2     x     x
//
// A panel stays in cache while the rows of its expert pass; those of an expert that no row chose are not read. A row's
// sums are the same whichever rows stand beside it.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/ExpertsPlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDEXPERTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

ArrayRef<PlanNumber<ExpertsPlan>> ExpertsPlan::numbers() {
  static constexpr PlanNumber<ExpertsPlan> all[] = {{"block_rows", &ExpertsPlan::blockRows, 1, 1 << 12},
                                                    {"task_panels", &ExpertsPlan::taskPanels, 1, 1 << 24},
                                                    {"tile_rows", &ExpertsPlan::tileRows, 1, 16},
                                                    {"tile_steps", &ExpertsPlan::tileSteps, 1, 16}};
  return all;
}

namespace {

class Experts {
public:
  Experts(Emitter &e, kernel::TasksOp tasks, kernel::ExpertsOp op) : e(e), tasks(tasks), op(op) {
    readPlan(tasks.getPlanAttr(), ExpertsPlan::numbers(), plan);
    auto weight = cast<MemRefType>(op.getWeight().getType());
    experts = cast<MemRefType>(op.getRoutes().getType()).getDimSize(1);
    panels = weight.getDimSize(0) / experts;
    depth = weight.getDimSize(1);
    lanes = weight.getDimSize(2);
    columns = op.getGated() ? lanes / 2 : lanes;
    width = cast<MemRefType>(op.getInit().getType()).getDimSize(1) / (op.getGated() ? op.getSlots() : 1);
    pieceLanes = std::min(tileColumns(plan.tileRows, e.lanes), lanes);
  }

  void expand() {
    PassRemarks("schedule", "expand-experts").did(op, [&] {
      return llvm::formatv("{0} experts of {1} panels: tiles of {2} rows that chose the same one x {3} lanes", experts,
                           panels, plan.tileRows, pieceLanes);
    });
    // In front of the tasks, so that the stack belongs to the function's frame. A row more: see list().
    sums = e.stackBuffer({plan.tileRows, lanes});
    for (Value *numbers : {&chosen, &slotOf, &used})
      *numbers = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({plan.blockRows + 1}, e.b.getIndexType()));
    tasks.getExtentsMutable().assign({e.rows(op.getX()), e.index(panels)});
    tasks.setGrain({plan.blockRows, plan.taskPanels});
    e.b.setInsertionPoint(op);
    // Without claims a thread has all rows at once.
    e.loop(tasks.part(0), tasks.part(1), plan.blockRows,
           [&](Value first) { block(first, e.min(tasks.part(1), e.add(first, plan.blockRows))); });
  }

private:
  void block(Value first, Value end) {
    e.loop(first, end, 1, [&](Value row) {
      setIndex(used, e.sub(row, first), e.index(0));
      if (!op.getGated())
        clear(row);
    });
    e.loop(e.index(0), e.index(experts), 1, [&](Value expert) {
      Value count = list(expert, first, end);
      e.loop(tasks.part(2), tasks.part(3), 1, [&](Value panel) { tiles(expert, panel, count); });
    });
  }

  // The columns of the task's panels.
  void clear(Value row) {
    Value begin = e.mul(tasks.part(2), columns), end = e.min(e.mul(tasks.part(3), columns), e.index(width));
    e.loop(begin, end, e.lanes, [&](Value column) {
      e.store(e.splat(0), op.getInit(), {row, column}, e.firstLanes(e.sub(end, column)));
    });
  }

  // The rows that chose an expert, and their slots; returns how many. What is stored behind the last is written over.
  Value list(Value expert, Value first, Value end) {
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

  void tiles(Value expert, Value panel, Value count) {
    Value whole = e.mul(e.div(count, plan.tileRows), plan.tileRows);
    e.loop(e.index(0), whole, plan.tileRows, [&](Value at) { tile(expert, panel, at, plan.tileRows); });
    e.when(e.less(whole, count), [&] {
      e.dispatch(e.sub(count, whole), 1, plan.tileRows - 1, [&](int64_t n) { tile(expert, panel, whole, n); });
    });
  }

  // Rows [at, at + n) of the list. A panel that is too wide for the accumulators is taken piece by piece.
  void tile(Value expert, Value panel, Value at, int64_t n) {
    Emitter::Values rows, slots;
    for (int64_t r = 0; r < n; ++r) {
      rows.push_back(getIndex(chosen, e.add(at, r)));
      // A row has no more slots than it says; what routes say that were not made by kernel.route is not trusted.
      slots.push_back(e.min(getIndex(slotOf, e.add(at, r)), e.index(op.getSlots() - 1)));
    }
    Value place = e.add(e.mul(expert, panels), panel);
    e.loop(e.index(0), e.index(lanes), pieceLanes, [&](Value firstLane) { piece(rows, slots, place, firstLane); });
    for (int64_t r = 0; r < n; ++r)
      finish(r, rows[r], slots[r], expert, panel);
  }

  void piece(ValueRange rows, ValueRange slots, Value panel, Value firstLane) {
    auto count = static_cast<int64_t>(rows.size()), vectors = pieceLanes / e.lanes;
    auto loadB = [&](Value k, int64_t v) { return e.load(op.getWeight(), {panel, k, e.add(firstLane, v * e.lanes)}); };
    RegisterTile registers{count, vectors, plan.tileSteps, nullptr, loadB};
    registers.readA(e, [&](int64_t r, Value k) {
      Value feature = op.getGated() ? k : e.add(e.mul(slots[r], depth), k);
      return std::pair(op.getX(), Emitter::Values{rows[r], feature});
    });
    Emitter::Values found = registers.accumulate(e, Emitter::Values(count * vectors, e.splat(0)), depth);
    for (auto [i, sum] : llvm::enumerate(found))
      e.store(sum, sums, {e.index(i / vectors), e.add(firstLane, i % vectors * e.lanes)});
  }

  // The epilogue of one row: of the gated half its vectors are no wider than the columns of a panel.
  void finish(int64_t r, Value row, Value slot, Value expert, Value panel) {
    Emitter out(e.b, e.loc, std::min(e.lanes, columns));
    out.loop(out.index(0), out.index(columns), out.lanes, [&](Value lane) {
      Value column = out.add(out.mul(panel, columns), lane), mask;
      if (width % columns != 0)
        mask = out.firstLanes(out.max(out.sub(out.index(width), column), out.index(0)));
      auto sum = [&](int64_t offset) { return out.load(sums, {out.index(r), out.add(lane, offset)}); };
      Value at = op.getGated() ? out.add(out.mul(slot, width), column) : column;
      Emitter::Values arguments = {sum(0)};
      if (op.getGated())
        arguments.push_back(sum(columns));
      else
        arguments.append(
            {out.broadcast(out.loadScalar(op.getRoutes(), {row, expert})), out.load(op.getInit(), {row, at}, mask)});
      Value ofExpert = out.add(out.mul(expert, width), column);
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
  ExpertsPlan plan;
  int64_t experts, panels, depth, lanes, columns, width, pieceLanes;  // panels: of an expert
  Value sums, chosen, slotOf, used;
};

struct ExpandExperts : talc::impl::ExpandExpertsBase<ExpandExperts> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::ExpertsOp> pieces;
    getOperation().walk([&](kernel::ExpertsOp op) { pieces.push_back(op); });
    for (kernel::ExpertsOp op : pieces) {
      kernel::TasksOp tasks = plannedTasksAround(op);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), lanes);
      Experts(emitter, tasks, op).expand();
      op.erase();
    }
  }
};

}  // namespace
