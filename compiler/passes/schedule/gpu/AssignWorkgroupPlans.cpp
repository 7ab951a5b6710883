// SPDX-License-Identifier: Apache-2.0
// assign-workgroup-plans: gives every op that has tuning parameters on GPUs its plan.
//
//   kernel.tasks %s over tiles { kernel.matmul ... }
//     ->  kernel.tasks %s over tiles plan<stages = 4, task_panels = 2, task_rows = 32, ...> { kernel.matmul ... }
//
// PlanAssigner.h says where plans come from.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/PlanAssigner.h"
#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

#include "llvm/ADT/TypeSwitch.h"

namespace talc {
#define GEN_PASS_DEF_ASSIGNWORKGROUPPLANS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;
using kernel::PlanAttr;

bool talc::isGpuParameter(StringRef name) {
  return haveParameter<MmaTunables, FmaTunables, MmaAttentionTunables, FmaAttentionTunables, OccupancyTunables>(name);
}

PlanAttr talc::getPlan(Operation *computeOp) {
  kernel::TasksOp tasks = kernel::TasksOp::around(computeOp);
  return tasks ? tasks.getPlanAttr() : PlanAttr();
}

PlanAttr talc::planWorkgroups(Operation *computeOp, const GpuFacts &gpu, PlanAttr given, std::string &problem) {
  auto plan = [&](auto op) {
    return gpu.mma && findMmaObstacle(op, *gpu.mma).empty() ? planByMma(op, gpu, given, problem)
                                                            : planByFma(op, gpu, given, problem);
  };
  return TypeSwitch<Operation *, PlanAttr>(computeOp).Case<kernel::MatmulOp, kernel::AttentionOp>(plan).Default(
      [](Operation *) { return PlanAttr(); });
}

namespace {

struct AssignWorkgroupPlans : talc::impl::AssignWorkgroupPlansBase<AssignWorkgroupPlans> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<GpuFacts> facts = getGpuFacts(getOperation(), gpu, mma);
    if (failed(facts))
      return signalPassFailure();
    auto findPlanner = [&](Operation *op) -> PlanAssigner::Planner {
      if (!isa<kernel::MatmulOp, kernel::AttentionOp>(op))
        return {};
      return [&facts, op](PlanAttr given, std::string &problem) { return planWorkgroups(op, *facts, given, problem); };
    };
    PlanAssigner assigner({"schedule", "assign-workgroup-plans"}, isGpuParameter);
    if (failed(assigner.run(getOperation(), plans, findPlanner)))
      signalPassFailure();
  }
};

}  // namespace
