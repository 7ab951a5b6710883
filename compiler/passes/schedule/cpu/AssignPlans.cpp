// SPDX-License-Identifier: Apache-2.0
// assign-plans: gives every op that has tuning parameters its plan. No other pass chooses them.
//
//   kernel.tasks %s over tiles by rows { kernel.matmul ... }
//     ->  kernel.tasks %s over tiles by rows plan<block_rows = 192, ..., tile_rows = 6> { kernel.matmul ... }
//
// PlanAssigner.h says where plans come from.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/PlanAssigner.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/halide/RowExpressions.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulCostModel.h"
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"

namespace talc {
#define GEN_PASS_DEF_ASSIGNPLANS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;
using kernel::PlanAttr;

constexpr PassRemarks remarks("schedule", "assign-plans");

namespace {

// The whole plan of an op of which some parameters are given, which may be null; `problem` says what is wrong with
// these.
using MakePlan = PlanAttr (*)(Operation *op, const CpuCosts &costs, PlanAttr given, std::string &problem);

template <typename Tunables> PlanAttr withTunables(PlanAttr plan, PlanAttr given, std::string &problem) {
  Tunables tunables;
  if (problem.empty())
    problem = readPlan(given, Tunables::parameters(), tunables);
  return writePlan(plan.getContext(), Tunables::parameters(), tunables, plan);
}

PlanAttr planMatmul(const MatmulShape &shape, const CpuCosts &costs, PlanAttr given, std::string &problem) {
  MatmulPlan plan = chooseMatmulPlan(shape, costs);
  problem = readPlan(given, MatmulTunables::parameters(), plan.tunables);
  if (!given || !given.parameter("layout_rows"))
    fitDequantizedPanels(plan);
  if (problem.empty())
    problem = plan.findContradiction();
  PlanAttr attribute = writePlan(shape.x.getContext(), MatmulTunables::parameters(), plan.tunables);
  return withTunables<DistributionTunables>(attribute, given, problem);
}

PlanAttr planMatmulOp(Operation *op, const CpuCosts &costs, PlanAttr given, std::string &problem) {
  PlanAttr plan = planMatmul(MatmulShape(cast<kernel::MatmulOp>(op)), costs, given, problem);
  return withTunables<GeneratorTunables>(plan, given, problem);
}

PlanAttr planMoe(Operation *op, const CpuCosts &costs, PlanAttr given, std::string &problem) {
  return planMatmul(MatmulShape(cast<kernel::ExpertsOp>(op)), costs, given, problem);
}

// Prefetches that may have to wait keep others waiting.
PlanAttr planAttention(Operation *op, const CpuCosts &costs, PlanAttr given, std::string &problem) {
  AttentionPlan plan = makeAttentionPlan(cast<kernel::AttentionOp>(op), given, problem);
  if (!given || !given.parameter("fetch_next"))
    plan.fetch = costs.dropsPrefetches;
  PlanAttr attribute = writePlan(op->getContext(), AttentionPlan::parameters(), plan);
  return withTunables<GeneratorTunables>(attribute, given, problem);
}

PlanAttr planRowWiseOp(Operation *op, const CpuCosts &, PlanAttr given, std::string &problem) {
  RowTunables tunables;
  problem = readPlan(given, RowTunables::parameters(), tunables);
  PlanAttr plan = writePlan(op->getContext(), RowTunables::parameters(), tunables);
  return hasRowExpressions(op) ? withTunables<GeneratorTunables>(plan, given, problem) : plan;
}

MakePlan findPlanner(Operation *op) {
  if (isa<kernel::MatmulOp>(op))
    return planMatmulOp;
  if (isa<kernel::ExpertsOp>(op))
    return planMoe;
  if (isa<kernel::AttentionOp>(op))
    return planAttention;
  return findCpuRowOp(op) ? planRowWiseOp : nullptr;
}

struct AssignPlans : talc::impl::AssignPlansBase<AssignPlans> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits)
      return signalPassFailure();
    const CpuCosts costs = {*traits, cacheBytes, dropsPrefetches, prefetchesStreams};
    auto makePlanner = [&](Operation *op) -> PlanAssigner::Planner {
      MakePlan makePlan = findPlanner(op);
      if (!makePlan)
        return {};
      return [=, &costs](PlanAttr given, std::string &problem) { return makePlan(op, costs, given, problem); };
    };
    if (failed(PlanAssigner(remarks, isCpuParameter).run(getOperation(), plans, makePlanner)))
      signalPassFailure();
  }
};

}  // namespace

bool talc::isCpuParameter(StringRef name) {
  return haveParameter<MatmulTunables, AttentionPlan, GeneratorTunables, RowTunables, DistributionTunables>(name);
}
