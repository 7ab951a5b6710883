// SPDX-License-Identifier: Apache-2.0
// expand-gradients: the loops of tasks of backward functions that are not row-wise (GradientLoops.h).
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/gradients/GradientLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDGRADIENTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

void expand(Emitter &e, Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](kernel::LinearWgradOp op) { expandLinearWgrad(e, op); })
      .Case([&](kernel::SumRowsOp op) { expandSumRows(e, op); })
      .Case([&](kernel::ScatterAddOp op) { expandScatterAdd(e, op); })
      .Case([&](kernel::AttentionDgradOp op) { expandAttentionDgrad(e, op); });
}

struct ExpandGradients : talc::impl::ExpandGradientsBase<ExpandGradients> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<kernel::LinearWgradOp, kernel::SumRowsOp, kernel::ScatterAddOp, kernel::AttentionDgradOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (!getEnclosingTasks(op))
        return signalPassFailure();
      PassRemarks("schedule", "expand-gradients").did(op, [&] {
        return llvm::formatv("{0}: loops in vectors of {1} lanes", op->getName().stripDialect(), traits->lanes);
      });
      OpBuilder builder(op);
      Emitter emitter(builder, op->getLoc(), *traits);
      expand(emitter, op);
      op->erase();
    }
  }
};

}  // namespace
