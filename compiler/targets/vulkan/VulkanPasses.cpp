// SPDX-License-Identifier: Apache-2.0
// What Vulkan GPUs add to the pipeline: for every pass a sentence on why it stands there; the others stand in
// compiler/Pipeline.cpp.
#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/targets/vulkan/VulkanTarget.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc::vulkan {

void VulkanTarget::addWeightPacking(OpPassManager &passes) const {
  // Neighbouring threads read neighbouring outputs of a panel.
  passes.addPass(createPackWeights({64}));
}

void VulkanTarget::addKvLayout(OpPassManager &passes) const {
  // As processors have it, so that one file can be for both.
  passes.addPass(createLayoutKvCache({16}));
}

void VulkanTarget::addOpSplitting(OpPassManager &passes) const {
  // A single row's attention has a workgroup for every head and block of keys.
  passes.addPass(createSplitKv({workgroupKeys}));
  // So has its contraction, for some panels and a part of k.
  passes.addPass(createSplitK({"vulkan"}));
  // Barriers are those of workers that take tasks as they come.
  passes.addPass(createSetDynamicSchedule());
}

void VulkanTarget::addSchedule(OpPassManager &passes) const {
  passes.addPass(createExpandWorkgroups({"vulkan"}));
  // When the tasks' bodies are loops: which workgroup does which task.
  passes.addPass(createDistributeWorkgroups());
  // Vulkan promises little of exp and tanh, and has no erf.
  passes.addPass(createExpandMath({/*scalars=*/true}));
  endStage(passes, {"builtin", "func", "talc", "kernel", "memref", "arith", "math", "vector", "scf", "gpu"});
}

void VulkanTarget::addCodegen(OpPassManager &passes) const {
  // While calls still say which buffers they pass.
  passes.addPass(createTabulateLaunches());
  passes.addPass(createConvertBuffersToAddresses());
  // What loops compute of addresses again and again goes in front of them.
  canonicalize(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertWorkgroupsToSPIRV());
  // A device is asked for no more than a kernel uses.
  passes.nest<spirv::ModuleOp>().addPass(spirv::createSPIRVUpdateVCEPass());
  endStage(passes, {"builtin", "func", "talc", "spirv"});
}

}  // namespace talc::vulkan
