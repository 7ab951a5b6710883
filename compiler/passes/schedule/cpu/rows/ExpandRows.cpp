// SPDX-License-Identifier: Apache-2.0
// expand-rows: loops for row-wise ops. rows/RowWiseOps.h and cpu/rows/CpuRowOps.h have the tables of them.
//
// A row is a few kilobytes and stays in L1, so that loops may go over it several times.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/Emitter.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDROWS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

static bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
}

// Unrolling does not change the order of a row's operations.
static void unrollInnermost(talc::kernel::TasksOp tasks) {
  talc::RowTunables tunables;
  readPlan(tasks.getPlanAttr(), talc::RowTunables::parameters(), tunables);
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  tasks.walk([&](scf::ForOp loop) {
    std::optional<APInt> iterations = isInnermost(loop) ? loop.getStaticTripCount() : std::nullopt;
    int64_t factor = iterations ? std::min<int64_t>(tunables.unroll, iterations->getSExtValue()) : 1;
    if (factor > 1)
      loops.emplace_back(loop, factor);
  });
  for (auto [loop, factor] : loops)
    (void)loopUnrollByFactor(loop, factor);
}

namespace {

struct ExpandRows : talc::impl::ExpandRowsBase<ExpandRows> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<talc::IsaTraits> traits = talc::getIsaTraits(getOperation(), lanes);
    if (!traits || !talc::areValidKvCaches(getOperation(), traits->lanes))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation().walk([&](talc::kernel::ComputeOpInterface op) { ops.push_back(op); });
    for (Operation *op : ops) {
      const talc::RowWiseOp *row = talc::findCpuRowOp(op);
      if (!row)
        continue;
      talc::kernel::TasksOp tasks = talc::getEnclosingTasks(op);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(op);
      talc::Emitter emitter(builder, op->getLoc(), *traits);
      talc::PassRemarks("schedule", "expand-rows").did(op, [&] {
        return llvm::formatv("{0}: loops over every row in vectors of {1} lanes", op->getName().stripDialect(),
                             traits->lanes);
      });
      row->expand(emitter, op);
      op->erase();
      unrollInnermost(tasks);
    }
  }
};

}  // namespace
