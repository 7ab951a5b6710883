// SPDX-License-Identifier: Apache-2.0
// The passes of the NVIDIA targets, each with a sentence on why it stands there; the others are in
// compiler/Pipeline.cpp.
#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"
#include "compiler/passes/schedule/PlanOverrides.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/targets/nvptx/NvptxTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc::nvptx {

void NvptxTarget::addWeightPacking(OpPassManager &passes) const {
  // Neighboring threads read neighboring outputs of a panel. Narrower panels take more requests for the same bytes,
  // and each row in shared memory serves fewer outputs, which costs more than a few lanes that are read for nothing.
  constexpr int64_t widest = 64, spare = 128;
  passes.addPass(createPackWeights({widest, spare}));
}

void NvptxTarget::addKvLayout(OpPassManager &passes) const {
  // The same layout as on CPUs, so that one file can be for both.
  passes.addPass(createLayoutKvCache({16}));
}

void NvptxTarget::addOpSplitting(OpPassManager &passes) const {
  // Split-KV: attention of a single row has a workgroup for every head and block of keys.
  passes.addPass(createSplitKv({workgroupKeys}));
  // Split-K: so has its matmul, for some panels and a part of K.
  passes.addPass(createSplitK({chip}));
  // Workgroups take tasks dynamically, and barriers follow from that.
  passes.addPass(createSetDynamicSchedule());
}

void NvptxTarget::addPlans(OpPassManager &passes, const std::string &plans, const std::string &) const {
  // The type of a buffer depends on all functions that read it, so it is marked before functions are looked up in the
  // cache.
  passes.addPass(createNarrowActivations({chip}));
  // Plans follow from the types that buffers will have.
  passes.addPass(createAssignWorkgroupPlans({chip, /*mma=*/true, plans}));
}

std::string NvptxTarget::checkPlans(StringRef plans) const {
  return PlanOverrides(isGpuParameter).parse(plans);
}

void NvptxTarget::addSchedule(OpPassManager &passes) const {
  passes.addPass(createExpandWorkgroups({chip}));
  // Workgroups take their tasks when the bodies of tasks are loops.
  passes.addPass(createDistributeWorkgroups());
  endStage(passes,
           {"builtin", "func", "talc", "kernel", "memref", "arith", "math", "vector", "scf", "gpu", "nvgpu", "nvvm"});
}

void NvptxTarget::addCodegen(OpPassManager &passes) const {
  // Launches are tabulated while calls still say which buffers they pass.
  passes.addPass(createTabulateLaunches());
  passes.addPass(createConvertTablesToLLVM());
  passes.addPass(createCompactArguments());
  canonicalize(passes);
  // Ranges of indices are known while threads are gpu ops.
  passes.addNestedPass<func::FuncOp>(createNarrowIndices());
  canonicalize(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  // Runs before upstream's conversions, which would call libraries.
  passes.addPass(createConvertWorkgroupsToNVVM());
  addConversionToLLVM(passes);
  endStage(passes, {"builtin", "talc", "llvm", "nvvm"});
}

}  // namespace talc::nvptx
