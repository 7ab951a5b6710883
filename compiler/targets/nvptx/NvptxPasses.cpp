// SPDX-License-Identifier: Apache-2.0
// The passes of NVIDIA GPUs, and for every pass a sentence on why it stands there; the others stand in
// compiler/Pipeline.cpp.
#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/targets/nvptx/NvptxTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc::nvptx {

void NvptxTarget::addWeightPacking(OpPassManager &passes) const {
  // Neighbouring threads read neighbouring outputs of a panel. Narrower panels take more requests for the same bytes,
  // and each row in shared memory serves fewer outputs, which costs more than a few lanes that are read for nothing.
  constexpr int64_t widest = 64, spare = 128;
  passes.addPass(createPackWeights({widest, spare}));
}

void NvptxTarget::addKvLayout(OpPassManager &passes) const {
  // As processors have it, so that one file can be for both.
  passes.addPass(createLayoutKvCache({16}));
}

void NvptxTarget::addOpSplitting(OpPassManager &passes) const {
  // A single row's attention has a workgroup for every head and block of keys.
  passes.addPass(createSplitKv({workgroupKeys}));
  // So has its contraction, for some panels and a part of k.
  passes.addPass(createSplitK({chip}));
  // Barriers are those of workers that take tasks as they come.
  passes.addPass(createSetDynamicSchedule());
}

void NvptxTarget::addPlans(OpPassManager &passes, const std::string &, const std::string &) const {
  // What buffers hold depends on all that read them, so it is noted before functions are looked for in the cache.
  passes.addPass(createNarrowActivations({chip}));
}

void NvptxTarget::addSchedule(OpPassManager &passes) const {
  passes.addPass(createExpandWorkgroups({chip}));
  // When the tasks' bodies are loops: which workgroup does which task.
  passes.addPass(createDistributeWorkgroups());
  endStage(passes,
           {"builtin", "func", "talc", "kernel", "memref", "arith", "math", "vector", "scf", "gpu", "nvgpu", "nvvm"});
}

void NvptxTarget::addCodegen(OpPassManager &passes) const {
  // While calls still say which buffers they pass.
  passes.addPass(createTabulateLaunches());
  passes.addPass(createConvertTablesToLLVM());
  passes.addPass(createCompactArguments());
  canonicalize(passes);
  // While threads still have names, which say how many there are.
  passes.addNestedPass<func::FuncOp>(createNarrowIndices());
  canonicalize(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  // Before upstream's conversions, which would call libraries.
  passes.addPass(createConvertWorkgroupsToNVVM());
  addConversionToLLVM(passes);
  endStage(passes, {"builtin", "talc", "llvm", "nvvm"});
}

}  // namespace talc::nvptx
