// SPDX-License-Identifier: Apache-2.0
// expand-matmul: the loops of a task of kernel.matmul.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulLoops.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDMATMUL
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

std::string describe(const MatmulPlan &plan, const std::string &weight) {
  const MatmulTunables &t = plan.tunables;
  return llvm::formatv(
      "K = {0}, N = {1}: tiles of {2} rows x {3} lanes; blocks of {4} rows, {5} panels and {6} of k; sums wait {7}; "
      "weight: {8}",
      plan.shape.k, plan.shape.n, t.tileRows, plan.tileLanes(t.tileRows), t.blockRows, t.blockPanels, t.blockK,
      plan.sumsWaitInResult() ? "in the result" : "on the stack", weight.empty() ? "several" : weight);
}

void expand(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op) {
  MatmulContext c = makeMatmulContext(e, tasks, op);
  const MatmulTunables &t = c.plan.tunables;
  PassRemarks("schedule", "expand-matmul").did(op, [&] { return describe(c.plan, storedName(op.getWeight())); });
  int64_t staticRows = c.plan.shape.x.getDimSize(0);
  bool areFew = !ShapedType::isDynamic(staticRows) && staticRows <= t.tileRows;
  MatmulLoops loops(c, areFew ? staticRows : 0, tasks.getPlanAttr().parameter(useAmxParameter).has_value());
  tasks.getExtentsMutable().assign({e.rows(op.getX()), e.index(c.plan.shape.panels)});
  tasks.setGrain({t.blockRows, t.taskPanels});
  e.b.setInsertionPoint(op);
  Value first = tasks.part(0), rows = areFew ? e.index(staticRows) : e.sub(tasks.part(1), first);
  loops.emit(first, rows, {tasks.part(2), tasks.part(3), tasks.part(4)});
}

struct ExpandMatmul : talc::impl::ExpandMatmulBase<ExpandMatmul> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    SmallVector<kernel::MatmulOp> matmuls;
    getOperation().walk([&](kernel::MatmulOp op) { matmuls.push_back(op); });
    for (kernel::MatmulOp op : matmuls) {
      kernel::TasksOp tasks = getPlannedTasks(op);
      if (!tasks)
        return signalPassFailure();
      if (op.getSplitK() > 1) {
        op.emitOpError("has split_k, which is for GPUs; compile from an earlier stage on");
        return signalPassFailure();
      }
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), *traits);
      expand(emitter, tasks, op);
      op.erase();
      eliminateCommonAddresses(tasks);
    }
  }
};

}  // namespace
