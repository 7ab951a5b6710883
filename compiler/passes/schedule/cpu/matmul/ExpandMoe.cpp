// SPDX-License-Identifier: Apache-2.0
// expand-moe: the loops of a task of kernel.experts.
//
//   for each expert                                  ascending, so that a row adds its experts' results in this order
//     list the rows of the task that chose it, and in which slot
//     these rows times the task's panels of the expert: the loops of a matmul, whose rows are those of the list
//       row by row: epilogue, store
//
//   routes   e0 e1 e2        rows of e0: 0 2    of e1: 0 1    of e2: 1 2       the rows of an expert need not be
//   row 0     x  x           slots:      0 0           1 0           1 1       neighbors: a tile takes them from a
//   row 1        x  x                                                          list
//   row 2     x     x
//
// A panel stays in cache while the rows of its expert pass; those of an expert that no row chose are not read. A row's
// sums are the same whichever rows are beside it.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
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

class Moe {
public:
  Moe(Emitter &e, kernel::TasksOp tasks, kernel::ExpertsOp op)
      : e(e), tasks(tasks), op(op), experts(cast<MemRefType>(op.getRoutes().getType()).getDimSize(1)),
        c{e,
          MatmulPlan(MatmulShape(op), e.traits, tasks.getPlanAttr()),
          tasks,
          op.getX(),
          op.getWeight(),
          op.getInit(),
          [this](const MatmulContext &, const StoredSums &sums, Value rows, Value panels, Value panel) {
            finish(sums, rows, panels, panel);
          },
          [this](Value entry) { return rowAddress(entry); }},
        shape(c.plan.shape), t(c.plan.tunables) {}

  void expand() {
    PassRemarks("schedule", "expand-moe").did(op, [&] {
      return llvm::formatv("{0} experts of {1} panels: tiles of {2} rows that chose the same expert x {3} lanes",
                           experts, shape.panels, t.tileRows, c.plan.tileLanes(t.tileRows));
    });
    int64_t staticRows = shape.x.getDimSize(0);
    bool areFew = !ShapedType::isDynamic(staticRows) && staticRows <= t.tileRows;
    // Before the tasks, so that the stack belongs to the function's frame. One row more: see listRows().
    MatmulLoops loops(c, areFew ? staticRows : 0, /*useAmx=*/false);
    for (Value *indices : {&chosenRows, &chosenSlots, &usedSlots})
      *indices = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({taskRows() + 1}, e.b.getIndexType()));
    tasks.getExtentsMutable().assign({e.rows(op.getX()), e.index(shape.panels)});
    tasks.setGrain({taskRows(), t.taskPanels});
    e.b.setInsertionPoint(op);
    auto multiply = [&](Value count, const MatmulLoops::Panels &panels) {
      if (areFew)
        return loops.emit(e.index(0), staticRows == 1 ? e.index(1) : count, panels);
      e.loop(e.index(0), count, t.blockRows,
             [&](Value at) { loops.emit(at, e.min(e.sub(count, at), e.index(t.blockRows)), panels); });
    };
    // With static distribution a thread has all rows at once.
    e.loop(tasks.part(0), tasks.part(1), taskRows(),
           [&](Value first) { emitBlock(first, e.min(tasks.part(1), e.add(first, taskRows())), multiply); });
  }

private:
  using Multiply = llvm::function_ref<void(Value count, const MatmulLoops::Panels &panels)>;

  // If all experts are chosen equally often, each has as many rows of a task as a matmul's task has.
  int64_t taskRows() {
    constexpr int64_t maxRows = 1024;
    int64_t rows = t.blockRows * experts / static_cast<int64_t>(op.getSlots());
    return std::max(t.blockRows, std::min(rows, maxRows));
  }

  void emitBlock(Value first, Value end, Multiply multiply) {
    e.loop(first, end, 1, [&](Value row) {
      setIndex(usedSlots, e.sub(row, first), e.index(0));
      if (!op.getGated())
        clearResult(row);
    });
    e.loop(e.index(0), e.index(experts), 1, [&](Value index) {
      expert = index;
      Value count = listRows(first, end), next = e.add(expert, 1);
      Value later = e.select(e.less(next, e.index(experts)), panelOfExpert(next, tasks.part(2)), tasks.part(4));
      MatmulLoops::Panels panels = {panelOfExpert(expert, tasks.part(2)), panelOfExpert(expert, tasks.part(3)), later};
      e.when(e.less(e.index(0), count), [&] { multiply(count, panels); });
    });
  }

  Value panelOfExpert(Value expert, Value panel) { return e.add(e.mul(expert, shape.panels), panel); }

  // Clears the columns of the task's panels.
  void clearResult(Value row) {
    Value begin = e.mul(tasks.part(2), shape.panelColumns),
          end = e.min(e.mul(tasks.part(3), shape.panelColumns), e.index(shape.n));
    e.loop(begin, end, e.lanes, [&](Value column) {
      e.store(e.splat(0), op.getInit(), {row, column}, e.firstLanes(e.sub(end, column)));
    });
  }

  // Lists the rows that chose the expert, and their slots; returns how many. What is stored after the last is
  // overwritten.
  Value listRows(Value first, Value end) {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
    Emitter::Values none = {e.index(0)};
    return e.loop(first, end, 1, none, [&](Value row, ValueRange count) -> Emitter::Values {
      Value index = e.sub(row, first), slot = getIndex(usedSlots, index);
      setIndex(chosenRows, count[0], row);
      setIndex(chosenSlots, count[0], slot);
      Value route = e.loadScalar(op.getRoutes(), {row, expert});
      Value isChosen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, route, zero);
      setIndex(usedSlots, index, e.select(isChosen, e.add(slot, 1), slot));
      return {e.select(isChosen, e.add(count[0], 1), count[0])};
    })[0];
  }

  // The row and the features of an entry of the list.
  RowAddress rowAddress(Value entry) {
    return {getIndex(chosenRows, entry), op.getGated() ? Value() : e.mul(slotOfEntry(entry), shape.k)};
  }

  // A row has at most as many slots as the op says: routes that kernel.route did not make are not trusted.
  Value slotOfEntry(Value entry) { return e.min(getIndex(chosenSlots, entry), e.index(op.getSlots() - 1)); }

  void finish(const StoredSums &sums, Value rows, Value panels, Value panel) {
    e.loop(e.index(0), rows, 1, [&](Value index) {
      Value entry = e.add(sums.firstRow, index), row = getIndex(chosenRows, entry), slot = slotOfEntry(entry);
      e.loop(e.index(0), panels, 1, [&](Value p) { finishRow(sums, index, row, slot, e.add(panel, p)); });
    });
  }

  // Vectors of the gated half are at most as wide as the columns of a panel.
  void finishRow(const StoredSums &sums, Value index, Value row, Value slot, Value panel) {
    Emitter out(e.b, e.loc, std::min(e.lanes, shape.panelColumns));
    Value first = out.mul(out.sub(panel, panelOfExpert(expert, out.index(0))), shape.panelColumns);
    out.loop(out.index(0), out.index(shape.panelColumns), out.lanes, [&](Value lane) {
      Value column = out.add(first, lane), mask;
      if (shape.n % shape.panelColumns != 0)
        mask = out.firstLanes(out.max(out.sub(out.index(shape.n), column), out.index(0)));
      auto sum = [&](int64_t offset) {
        return out.load(sums.memory(c), {sums.row(c, index), out.add(out.add(sums.column(c, panel), lane), offset)});
      };
      Value at = op.getGated() ? out.add(out.mul(slot, shape.n), column) : column;
      Emitter::Values arguments = {sum(0)};
      if (op.getGated())
        arguments.push_back(sum(shape.panelColumns));
      else
        arguments.append(
            {out.broadcast(out.loadScalar(op.getRoutes(), {row, expert})), out.load(op.getInit(), {row, at}, mask)});
      Value biasIndex = out.add(out.mul(expert, shape.n), column);
      for (Value bias : op.getBiases())
        arguments.push_back(out.load(bias, {biasIndex}, mask));
      out.store(vectorize(out, op.getEpilogue().front(), arguments)[0], op.getInit(), {row, at}, mask);
    });
  }

  Value getIndex(Value indices, Value at) { return memref::LoadOp::create(e.b, e.loc, indices, at); }
  void setIndex(Value indices, Value at, Value value) { memref::StoreOp::create(e.b, e.loc, value, indices, at); }

  Emitter &e;
  kernel::TasksOp tasks;
  kernel::ExpertsOp op;
  const int64_t experts;
  const MatmulContext c;  // of an expert's panels
  const MatmulShape &shape;
  const MatmulTunables &t;
  // Lists of the rows that chose the expert, and of the slots that they gave it; the slots that each row has used.
  Value chosenRows, chosenSlots, usedSlots;
  Value expert;  // whose rows are listed
};

struct ExpandMoe : talc::impl::ExpandMoeBase<ExpandMoe> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    SmallVector<kernel::ExpertsOp> ops;
    getOperation().walk([&](kernel::ExpertsOp op) { ops.push_back(op); });
    for (kernel::ExpertsOp op : ops) {
      kernel::TasksOp tasks = getPlannedTasks(op);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), *traits);
      Moe(emitter, tasks, op).expand();
      op.erase();
      eliminateCommonAddresses(tasks);
    }
  }
};

}  // namespace
