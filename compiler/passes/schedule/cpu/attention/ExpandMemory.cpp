// SPDX-License-Identifier: Apache-2.0
// expand-memory: the loops of a task of kernel.memory, in vectors (MemoryLoops.h).
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/attention/MemoryLoops.h"
#include "compiler/passes/schedule/cpu/Isa.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDMEMORY
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct ExpandMemory : talc::impl::ExpandMemoryBase<ExpandMemory> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    SmallVector<kernel::MemoryOp> ops;
    getOperation().walk([&](kernel::MemoryOp op) { ops.push_back(op); });
    for (kernel::MemoryOp op : ops) {
      if (!getEnclosingTasks(op))
        return signalPassFailure();
      PassRemarks("schedule", "expand-memory").did(op, [&] {
        return llvm::formatv("a matrix for every head, read {0} values at a time", memoryVectorsAtOnce * traits->lanes);
      });
      OpBuilder builder(op);
      Emitter emitter(builder, op.getLoc(), *traits);
      expandMemory(emitter, op);
      op.erase();
    }
  }
};

}  // namespace
