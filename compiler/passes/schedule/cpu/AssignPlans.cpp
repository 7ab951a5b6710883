// SPDX-License-Identifier: Apache-2.0
// assign-plans: gives every op that has tuning parameters its plan. No other pass chooses them.
//
//   kernel.tasks %s over tiles by rows { kernel.matmul ... }
//     ->  kernel.tasks %s over tiles by rows plan<block_rows = 192, ..., tile_rows = 6> { kernel.matmul ... }
//
// The first of these that says something of an op decides: the program, a plan override by the kernel's name, a tuning
// record by the kernel's digest. The cost model chooses the parameters that it does not say.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/PlanOverrides.h"
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/halide/RowExpressions.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulCostModel.h"
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"

#include "llvm/Support/FormatVariadic.h"

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

// Null: the op has no tuning parameters.
MakePlan findPlanner(Operation *op) {
  if (!op)
    return nullptr;
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
    costs = {*traits, cacheBytes, dropsPrefetches, prefetchesStreams};
    PlanOverrides overrides;
    if (std::string problem = overrides.parse(plans); !problem.empty()) {
      getOperation().emitError() << "plans: " << problem;
      return signalPassFailure();
    }
    std::set<std::string> unmatched = overrides.digests();
    const size_t recorded = unmatched.size();
    bool isFirstRun = false;  // some op has no plan yet
    auto result = getOperation().walk([&](kernel::TasksOp tasks) {
      MakePlan make = findPlanner(tasks.getComputeOp());
      if (!make)
        return WalkResult::advance();
      isFirstRun |= !tasks.getPlanAttr();
      if (recorded > 0)
        unmatched.erase(kernelDigest(tasks));
      return succeeded(assign(tasks, make, overrides)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (isFirstRun)
      reportUnmatched(unmatched.size(), recorded);
  }

  // A tuning record may hold plans for other storage formats as well; one that matches no kernel is stale.
  void reportUnmatched(size_t unmatched, size_t recorded) {
    if (recorded > 0 && unmatched == recorded)
      getOperation().emitWarning() << "none of the " << recorded << " plans of the tuning record matches a kernel of "
                                   << "this program, so the record is ignored; run 'talc tune' again";
    else if (unmatched > 0)
      remarks.declined(getOperation(), [&] {
        return llvm::formatv("{0} of {1} recorded plans match no kernel of this program", unmatched, recorded).str();
      });
  }

  LogicalResult assign(kernel::TasksOp tasks, MakePlan make, const PlanOverrides &overrides) {
    PlanAttr given = tasks.getPlanAttr() ? tasks.getPlanAttr() : overrides.findByName(tasks);
    if (!given && assignRecorded(tasks, make, overrides))
      return success();
    std::string problem;
    PlanAttr plan = make(tasks.getComputeOp(), costs, given, problem);
    if (!problem.empty())
      return tasks.emitOpError() << "cannot have this plan: " << problem;
    tasks.setPlanAttr(plan);
    remarks.did(tasks, [&] { return (given ? "plan override: " : "cost model: ") + planText(plan); });
    return success();
  }

  // A recorded plan that does not fit is stale, which is not an error of the program.
  bool assignRecorded(kernel::TasksOp tasks, MakePlan make, const PlanOverrides &overrides) {
    PlanAttr recorded = overrides.findByDigest(tasks);
    if (!recorded)
      return false;
    std::string problem;
    PlanAttr plan = make(tasks.getComputeOp(), costs, recorded, problem);
    if (!problem.empty()) {
      tasks.emitWarning() << "kernel " << tasks->getParentOfType<func::FuncOp>().getName()
                          << ": the recorded plan does not fit and is ignored: " << problem;
      return false;
    }
    tasks.setPlanAttr(plan);
    remarks.did(tasks, [&] { return "tuning record: " + planText(plan); });
    return true;
  }

  CpuCosts costs;
};

}  // namespace
