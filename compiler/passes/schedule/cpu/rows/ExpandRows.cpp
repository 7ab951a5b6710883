// SPDX-License-Identifier: Apache-2.0
// expand-rows: loops for the pieces that treat each row by itself. rows/RowWiseOps.h and cpu/rows/OwnRowPieces.h have
// the tables of them.
//
// A row is a few kilobytes and stays in L1, so its loops may pass over it several times.
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

// The order of everything that a row goes through stays.
static void unrollInnermost(talc::kernel::TasksOp tasks) {
  talc::RowTunables plan;
  readPlan(tasks.getPlanAttr(), talc::RowTunables::parameters(), plan);
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  tasks.walk([&](scf::ForOp loop) {
    std::optional<APInt> turns = isInnermost(loop) ? loop.getStaticTripCount() : std::nullopt;
    int64_t together = turns ? std::min<int64_t>(plan.unroll, turns->getSExtValue()) : 1;
    if (together > 1)
      loops.emplace_back(loop, together);
  });
  for (auto [loop, together] : loops)
    (void)loopUnrollByFactor(loop, together);
}

namespace {

struct ExpandRows : talc::impl::ExpandRowsBase<ExpandRows> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<talc::IsaTraits> traits = talc::getIsaTraits(getOperation(), lanes);
    if (!traits || !talc::areValidKvCaches(getOperation(), traits->lanes))
      return signalPassFailure();
    SmallVector<Operation *> pieces;
    getOperation().walk([&](talc::kernel::ComputeOpInterface piece) { pieces.push_back(piece); });
    for (Operation *piece : pieces) {
      const talc::RowWiseOp *row = talc::findCpuRowOp(piece);
      if (!row)
        continue;
      talc::kernel::TasksOp tasks = talc::getEnclosingTasks(piece);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(piece);
      talc::Emitter emitter(builder, piece->getLoc(), *traits);
      talc::PassRemarks("schedule", "expand-rows").did(piece, [&] {
        return llvm::formatv("{0}: loops over every row in vectors of {1} lanes", piece->getName().stripDialect(),
                             traits->lanes);
      });
      row->expand(emitter, piece);
      piece->erase();
      unrollInnermost(tasks);
    }
  }
};

}  // namespace
