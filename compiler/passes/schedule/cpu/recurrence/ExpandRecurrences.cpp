// SPDX-License-Identifier: Apache-2.0
// expand-recurrences: the loops of tasks of ops with states (RecurrenceLoops.h).
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/recurrence/RecurrenceLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDRECURRENCES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct ExpandRecurrences : talc::impl::ExpandRecurrencesBase<ExpandRecurrences> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    if (failed(expandAll<kernel::CausalConvOp>(*traits, expandCausalConv)) ||
        failed(expandAll<kernel::RecurrenceOp>(*traits, expandRecurrence)) ||
        failed(expandAll<kernel::SelectiveScanOp>(*traits, expandSelectiveScan)))
      signalPassFailure();
  }

  template <typename Op> LogicalResult expandAll(const IsaTraits &traits, void (*emit)(Emitter &, Op)) {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) { ops.push_back(op); });
    return success(llvm::all_of(ops, [&](Op op) { return succeeded(expand(op, traits, emit)); }));
  }

  template <typename Op> static LogicalResult expand(Op op, const IsaTraits &traits, void (*emit)(Emitter &, Op)) {
    if (!getEnclosingTasks(op))
      return failure();
    SmallVector<int64_t> shape = kernel::columnsShape(cast<KvCacheType>(op.getState().getType()));
    PassRemarks("schedule", "expand-recurrences").did(op, [&] {
      return llvm::formatv("{0} tasks for each sequence, each a block of {1} columns", shape[0] * shape[1], shape[3]);
    });
    OpBuilder builder(op);
    Emitter emitter(builder, op.getLoc(), traits);
    emit(emitter, op);
    op.erase();
    return success();
  }
};

}  // namespace
