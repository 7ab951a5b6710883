// SPDX-License-Identifier: Apache-2.0
// expand-matmul: the loops of a task of kernel.matmul.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/matmul/Epilogue.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulLoops.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDMATMUL
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

std::string describe(const MatmulPlan &plan, const std::string &weight) {
  return llvm::formatv(
      "{0} x {1}: tiles of {2} rows x {3} lanes; blocks of {4} rows, {5} panels and {6} of k; sums {7}; weight: {8}",
      plan.depth, plan.width, plan.tileRows, plan.tileLanes(plan.tileRows), plan.blockRows, plan.blockPanels,
      plan.blockDepth, plan.sumsInResult() ? "wait in the result" : "wait on the stack",
      weight.empty() ? "several" : weight);
}

void expand(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op) {
  MatmulContext c = makeMatmulContext(e, tasks, op);
  const MatmulPlan &plan = c.plan;
  PassRemarks("schedule", "expand-matmul").did(op, [&] { return describe(plan, storedName(op.getWeight())); });
  int64_t known = cast<MemRefType>(op.getX().getType()).getDimSize(0);
  bool few = !ShapedType::isDynamic(known) && known <= plan.tileRows;
  MatmulLoops loops(c, few ? known : 0, op->hasAttr(useAmxAttr));
  tasks.getExtentsMutable().assign({e.rows(op.getX()), e.index(plan.panels)});
  tasks.setGrain({plan.blockRows, plan.taskPanels});
  e.b.setInsertionPoint(op);
  Value first = tasks.part(0), rows = few ? e.index(known) : e.sub(tasks.part(1), first);
  loops.emit(first, rows, {tasks.part(2), tasks.part(3), tasks.part(4)});
}

struct ExpandMatmul : talc::impl::ExpandMatmulBase<ExpandMatmul> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::MatmulOp> contracts;
    getOperation().walk([&](kernel::MatmulOp op) { contracts.push_back(op); });
    for (kernel::MatmulOp op : contracts) {
      kernel::TasksOp tasks = getPlannedTasks(op);
      if (!tasks)
        return signalPassFailure();
      if (op.getSplitK() > 1) {
        op.emitOpError("has split_k, which is for GPUs; compile from an earlier stage on");
        return signalPassFailure();
      }
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), lanes);
      expand(emitter, tasks, op);
      op.erase();
      shareAddresses(tasks);
    }
  }
};

}  // namespace
