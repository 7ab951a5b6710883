// SPDX-License-Identifier: Apache-2.0
// matmul-to-amx: matmuls of bf16 by bf16 become tile instructions of AMX (AmxBf16.cpp).
//
// Sums of integers are exact, so that a few rows of them may be multiplied in another way than many: matmuls of
// integers are only marked, and expand-matmul leaves their many rows to AMX (AmxInt8.cpp).
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/matmul/Amx.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace talc {
#define GEN_PASS_DEF_MATMULTOAMX
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("schedule", "matmul-to-amx");

struct MatmulToAmx : talc::impl::MatmulToAmxBase<MatmulToAmx> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    SmallVector<kernel::MatmulOp> matmuls;
    getOperation().walk([&](kernel::MatmulOp op) { matmuls.push_back(op); });
    for (kernel::MatmulOp op : matmuls)
      if (failed(visit(op, *traits)))
        return signalPassFailure();
  }

  LogicalResult visit(kernel::MatmulOp op, const IsaTraits &traits) {
    kernel::TasksOp tasks = getPlannedTasks(op);
    if (!tasks)
      return failure();
    if (canUseAmxInt8(MatmulShape(op), traits)) {
      NamedAttrList plan(tasks.getPlanAttr().getParameters());
      plan.set(useAmxParameter, Builder(op).getI64IntegerAttr(1));
      tasks.setPlanAttr(kernel::PlanAttr::get(op.getContext(), plan.getDictionary(op.getContext())));
      remarks.did(op, [&] { return "many rows: 16 at a time, a group of codes that share a scale"; });
      return success();
    }
    if (std::string why = whyNotAmxBf16(op, traits); !why.empty()) {
      remarks.declined(op, [&] { return why; });
      return success();
    }
    OpBuilder builder(tasks);
    Emitter emitter(builder, op.getLoc(), traits);
    expandAmxBf16(emitter, tasks, op);
    remarks.did(op, [&] { return "16 rows at a time, 32 k of bf16"; });
    op.erase();
    return success();
  }
};

}  // namespace
