// SPDX-License-Identifier: Apache-2.0
// The passes of the Vulkan target, each with a sentence on why it stands there; the others are in
// compiler/Pipeline.cpp.
#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"
#include "compiler/passes/schedule/PlanOverrides.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/targets/vulkan/VulkanTarget.h"

#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc::vulkan {

void VulkanTarget::addWeightPacking(OpPassManager &passes) const {
  // Neighboring threads read neighboring outputs of a panel.
  passes.addPass(createPackWeights({64}));
}

void VulkanTarget::addKvLayout(OpPassManager &passes) const {
  // The same layout as on CPUs, so that one file can be for both.
  passes.addPass(createLayoutKvCache({16}));
}

void VulkanTarget::addOpSplitting(OpPassManager &passes) const {
  // Split-KV: attention of a single row has a workgroup for every head and block of keys.
  passes.addPass(createSplitKv({workgroupKeys}));
  // Split-K: so has its matmul, for some panels and a part of K.
  passes.addPass(createSplitK({"vulkan"}));
  // Workgroups take tasks dynamically, and barriers follow from that.
  passes.addPass(createSetDynamicSchedule());
}

void VulkanTarget::addPlans(OpPassManager &passes, const std::string &plans, const std::string &) const {
  passes.addPass(createAssignWorkgroupPlans({"vulkan", /*mma=*/true, plans}));
}

std::string VulkanTarget::checkPlans(StringRef plans) const {
  return PlanOverrides(isGpuParameter).parse(plans);
}

void VulkanTarget::addSchedule(OpPassManager &passes) const {
  passes.addPass(createExpandWorkgroups({"vulkan"}));
  // Workgroups take their tasks when the bodies of tasks are loops.
  passes.addPass(createDistributeWorkgroups());
  // Vulkan promises little of exp and tanh, and has no erf.
  passes.addPass(createExpandMath({/*scalars=*/true}));
  endStage(passes, {"builtin", "func", "talc", "kernel", "memref", "arith", "math", "vector", "scf", "gpu"});
}

void VulkanTarget::addCodegen(OpPassManager &passes) const {
  // Launches are tabulated while calls still say which buffers they pass.
  passes.addPass(createTabulateLaunches());
  passes.addPass(createConvertBuffersToAddresses());
  // Moves the arithmetic of addresses out of loops.
  canonicalize(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertWorkgroupsToSPIRV());
  // Devices are only asked for capabilities that a kernel uses.
  passes.nest("spirv.module").addPass(spirv::createSPIRVUpdateVCEPass());
  endStage(passes, {"builtin", "func", "talc", "spirv"});
}

}  // namespace talc::vulkan
