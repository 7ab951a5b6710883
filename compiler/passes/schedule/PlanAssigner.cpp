// SPDX-License-Identifier: Apache-2.0
// Looks for the plan of each op, and reports overrides and records that fit nothing.
#include "compiler/passes/schedule/PlanAssigner.h"

#include "compiler/passes/schedule/attention/AttentionPlan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

using kernel::PlanAttr;

LogicalResult PlanAssigner::run(ModuleOp module, StringRef plans, FindPlanner findPlanner) {
  if (std::string problem = overrides.parse(plans); !problem.empty())
    return module.emitError() << "plans: " << problem;
  std::set<std::string> unmatched = overrides.digests();
  const size_t recorded = unmatched.size();
  bool isFirstRun = false;  // some op has no plan yet
  auto result = module.walk([&](kernel::TasksOp tasks) {
    Operation *op = tasks.getComputeOp();
    Planner makePlan = op ? findPlanner(op) : Planner();
    if (!makePlan)
      return WalkResult::advance();
    isFirstRun |= !tasks.getPlanAttr();
    if (recorded > 0)
      unmatched.erase(kernelDigest(tasks));
    return succeeded(assign(tasks, makePlan)) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (isFirstRun && !result.wasInterrupted())
    reportUnmatched(module, unmatched.size(), recorded);
  return failure(result.wasInterrupted());
}

// A tuning record may hold plans for other storage formats as well; one that matches no kernel is stale.
void PlanAssigner::reportUnmatched(ModuleOp module, size_t unmatched, size_t recorded) {
  if (recorded > 0 && unmatched == recorded)
    module.emitWarning() << "none of the " << recorded << " plans of the tuning record matches a kernel of "
                         << "this program, so the record is ignored; run 'talc tune' again";
  else if (unmatched > 0)
    remarks.declined(module, [&] {
      return llvm::formatv("{0} of {1} recorded plans match no kernel of this program", unmatched, recorded).str();
    });
}

LogicalResult PlanAssigner::assign(kernel::TasksOp tasks, const Planner &makePlan) {
  PlanAttr given = tasks.getPlanAttr() ? tasks.getPlanAttr() : overrides.findByName(tasks);
  if (!given && assignRecorded(tasks, makePlan))
    return success();
  std::string problem;
  PlanAttr plan = makePlan(given, problem);
  if (!problem.empty())
    return tasks.emitOpError() << "of kernel " << tasks->getParentOfType<func::FuncOp>().getName()
                               << " cannot have this plan: " << problem;
  tasks.setPlanAttr(plan);
  remarks.did(tasks, [&] { return (given ? "plan override: " : "cost model: ") + planText(plan); });
  return success();
}

// What is wrong with a recorded plan. A record may come with a model from elsewhere, so it never changes results.
static std::string checkRecorded(PlanAttr recorded, const PlanAssigner::Planner &makePlan, PlanAttr &plan) {
  std::string problem;
  plan = makePlan(recorded, problem);
  if (!problem.empty() || !recorded.parameter(blockKeysParameter))
    return problem;
  PlanAttr usual = makePlan({}, problem);
  if (usual.parameter(blockKeysParameter) != recorded.parameter(blockKeysParameter))
    return blockKeysParameter.str() + " would change results";
  return "";
}

// A recorded plan that does not fit is stale, which is not an error of the program.
bool PlanAssigner::assignRecorded(kernel::TasksOp tasks, const Planner &makePlan) {
  PlanAttr recorded = overrides.findByDigest(tasks);
  if (!recorded)
    return false;
  PlanAttr plan;
  if (std::string problem = checkRecorded(recorded, makePlan, plan); !problem.empty()) {
    tasks.emitWarning() << "kernel " << tasks->getParentOfType<func::FuncOp>().getName()
                        << ": the recorded plan does not fit and is ignored: " << problem;
    return false;
  }
  tasks.setPlanAttr(plan);
  remarks.did(tasks, [&] { return "tuning record: " + planText(plan); });
  return true;
}

}  // namespace talc
