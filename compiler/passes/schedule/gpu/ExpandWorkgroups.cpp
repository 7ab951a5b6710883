// SPDX-License-Identifier: Apache-2.0
// expand-workgroups: replaces every compute op by the code of one thread of the workgroup that does a task of it.
//
//   tasks over rows { norm %x into %y }   ->   tasks over rows of (%n) { for its rows: thread t has columns t, t + n,
//   ... }
//
// Row-wise ops share their code with CPUs, with threads for vector lanes (WorkgroupEmitter.h).
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/attention/MemoryLoops.h"
#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/NarrowedActivations.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDWORKGROUPS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class OpExpansion {
public:
  OpExpansion(Operation *op, const GpuFacts &gpu) : op(op), builder(op), gpu(gpu) {}

  // Expands the op. Returns null if GPUs have no code for it.
  kernel::LaunchAttr run() {
    return TypeSwitch<Operation *, kernel::LaunchAttr>(op)
        .Case([&](kernel::MatmulOp op) { return expandTiles(op); })
        .Case([&](kernel::AttentionOp op) { return expandTiles(op); })
        .Case([&](kernel::ExpertsOp op) { return expand(moeThreads(op), [&](auto &e) { expandMoe(e, op); }); })
        .Case([&](kernel::CombineOp op) { return expand(combineThreads(op), [&](auto &e) { expandCombine(e, op); }); })
        .Case(
            [&](kernel::KvAppendOp op) { return expand(kvAppendThreads(op), [&](auto &e) { expandKvAppend(e, op); }); })
        .Case(
            [&](kernel::QuantizeOp op) { return expand(quantizeThreads(op), [&](auto &e) { expandQuantize(e, op); }); })
        .Case([&](kernel::MemoryOp op) {
          int64_t threads = threadsForColumns(cast<KvCacheType>(op.getCache().getType()).getWidth());
          return expand(threads, [&](auto &e) { expandMemory(e, op); });
        })
        .Case([&](linalg::GenericOp op) {
          return hasSingleRow(op) ? expand(singleRowThreads(op), [&](auto &e) { expandSingleRow(e, op); })
                                  : expandRows(op);
        })
        .Default([&](Operation *op) { return expandRows(op); });
  }

private:
  kernel::LaunchAttr expand(int64_t threads, llvm::function_ref<void(WorkgroupEmitter &)> emit, StringRef tile = "") {
    WorkgroupEmitter e(builder, op->getLoc(), threads, gpu);
    emit(e);
    return kernel::LaunchAttr::get(builder.getContext(), threads, /*grid=*/{}, e.limits.maxRegisters,
                                   e.limits.keepLoops, e.limits.narrowIndices, /*argument_count=*/0,
                                   tile.empty() ? StringAttr() : builder.getStringAttr(tile));
  }

  template <typename Op> kernel::LaunchAttr expandTiles(Op op) {
    std::string obstacle = gpu.mma ? findMmaObstacle(op, *gpu.mma) : "";
    if (gpu.mma && obstacle.empty()) {
      std::string tile = describeMmaTile(op, gpu);
      return expand(
          mmaThreads(op, gpu), [&](auto &e) { expandByMma(e, op); }, tile);
    }
    std::string tile = describeFmaTile(op, gpu) + (obstacle.empty() ? "" : ", since " + obstacle);
    return expand(
        fmaThreads(op, gpu), [&](auto &e) { expandByFma(e, op); }, tile);
  }

  kernel::LaunchAttr expandRows(Operation *op) {
    const RowWiseOp *row = findRowWiseOp(rowWiseOps, op);
    Value init = kernel::getDestination(op);
    if (!row || !init)
      return {};
    int64_t threads = threadsForColumns(cast<ShapedType>(init.getType()).getShape().back());
    return expand(threads, [&](auto &e) { row->expand(e, op); });
  }

  Operation *op;
  OpBuilder builder;
  const GpuFacts &gpu;
};

struct ExpandWorkgroups : talc::impl::ExpandWorkgroupsBase<ExpandWorkgroups> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<GpuFacts> facts = getGpuFacts(getOperation(), gpu, mma);
    if (failed(facts) || !areValidKvCaches(getOperation(), /*lanes=*/1))
      return signalPassFailure();
    applyNarrowing(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](kernel::ComputeOpInterface op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(expand(op, *facts)))
        return signalPassFailure();
  }

  static LogicalResult expand(Operation *op, const GpuFacts &facts) {
    if (!getEnclosingTasks(op))
      return failure();
    std::string problem;
    planWorkgroups(op, facts, getPlan(op), problem);
    if (!problem.empty())
      return op->emitOpError() << "cannot have the plan of its tasks: " << problem;
    kernel::LaunchAttr launch = OpExpansion(op, facts).run();
    if (!launch)
      return op->emitOpError("has no code for GPUs; --target=native makes code for CPUs, which run it");
    const StringRef tile = launch.getTile() ? launch.getTile().getValue() : "";
    PassRemarks("schedule", "expand-workgroups").did(op, [&] {
      return llvm::formatv("{0}: workgroups of {1} threads{2}{3}", op->getName().stripDialect(), launch.getThreads(),
                           tile.empty() ? "" : ": ", tile);
    });
    op->getParentOfType<func::FuncOp>()->setAttr(kernel::LaunchAttr::attrName, launch);
    op->erase();
    return success();
  }
};

}  // namespace
