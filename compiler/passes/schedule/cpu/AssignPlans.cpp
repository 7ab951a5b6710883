// SPDX-License-Identifier: Apache-2.0
// assign-plans: every piece that has a choice gets its plan, the one place where plans are chosen.
//
//   kernel.tasks %s over tiles by rows { kernel.matmul ... }
//     ->  kernel.tasks %s over tiles by rows plan<block_rows = 192, ..., tile_rows = 6> { kernel.matmul ... }
//
// The first that says something of a piece counts: the program, the option `plans` by the kernel's name, the same by
// its digest (records). What it does not say, the cost model does.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/cpu/GeneratorPlan.h"
#include "compiler/passes/schedule/cpu/PlanOverrides.h"
#include "compiler/passes/schedule/cpu/halide/RowExpressions.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"
#include "compiler/passes/schedule/cpu/rows/RowPlan.h"
#include "compiler/passes/schedule/cpu/tasks/DistributionPlan.h"

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

// The whole plan of a piece of which some numbers are given; null, and what is wrong with these.
using MakePlan = PlanAttr (*)(Operation *piece, const CostModelTarget &machine, PlanAttr given, std::string &problem);

PlanAttr withShares(PlanAttr plan, PlanAttr given, std::string &problem) {
  DistributionPlan shares;
  if (problem.empty())
    problem = readPlan(given, DistributionPlan::parameters(), shares);
  return writePlan(plan.getContext(), DistributionPlan::parameters(), shares, plan);
}

PlanAttr withGenerator(PlanAttr plan, PlanAttr given, std::string &problem) {
  GeneratorPlan generator;
  if (problem.empty())
    problem = readPlan(given, GeneratorPlan::parameters(), generator);
  return writePlan(plan.getContext(), GeneratorPlan::parameters(), generator, plan);
}

PlanAttr planProducts(const MatmulShape &shape, const CostModelTarget &machine, PlanAttr given, std::string &problem) {
  MatmulPlan plan(shape, machine);
  problem = readPlan(given, MatmulPlan::parameters(), plan);
  if (!given || !given.parameter("layout_rows"))
    plan.fitLayout();
  if (problem.empty())
    problem = plan.contradiction();
  return writePlan(shape.x.getContext(), MatmulPlan::parameters(), plan);
}

PlanAttr planContract(Operation *piece, const CostModelTarget &machine, PlanAttr given, std::string &problem) {
  PlanAttr numbers = planProducts(MatmulShape::of(cast<kernel::MatmulOp>(piece)), machine, given, problem);
  return withShares(withGenerator(numbers, given, problem), given, problem);
}

PlanAttr planExperts(Operation *piece, const CostModelTarget &machine, PlanAttr given, std::string &problem) {
  PlanAttr numbers = planProducts(MatmulShape::of(cast<kernel::ExpertsOp>(piece)), machine, given, problem);
  return withShares(numbers, given, problem);
}

// Where fetches may have to wait, they keep others waiting.
PlanAttr planAttention(Operation *piece, const CostModelTarget &machine, PlanAttr given, std::string &problem) {
  AttentionPlan plan = makeAttentionPlan(cast<kernel::AttentionOp>(piece), given, problem);
  if (!given || !given.parameter("fetch_next"))
    plan.fetch = machine.dropsPrefetches;
  return withGenerator(writePlan(piece->getContext(), AttentionPlan::parameters(), plan), given, problem);
}

PlanAttr planRows(Operation *piece, const CostModelTarget &, PlanAttr given, std::string &problem) {
  RowPlan plan;
  problem = readPlan(given, RowPlan::parameters(), plan);
  PlanAttr numbers = writePlan(piece->getContext(), RowPlan::parameters(), plan);
  return hasRowExpressions(piece) ? withGenerator(numbers, given, problem) : numbers;
}

// Null: the piece has no choice.
MakePlan plannerOf(Operation *piece) {
  if (!piece)
    return nullptr;
  if (isa<kernel::MatmulOp>(piece))
    return planContract;
  if (isa<kernel::ExpertsOp>(piece))
    return planExperts;
  if (isa<kernel::AttentionOp>(piece))
    return planAttention;
  return findRowOp(piece) ? planRows : nullptr;
}

struct AssignPlans : talc::impl::AssignPlansBase<AssignPlans> {
  using Base::Base;

  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    PlanOverrides given;
    if (std::string problem = given.parse(plans); !problem.empty()) {
      getOperation().emitError() << "plans: " << problem;
      return signalPassFailure();
    }
    std::set<std::string> gone = given.digests();
    const size_t recorded = gone.size();
    bool isFirst = false;  // pieces have no plans yet
    auto result = getOperation().walk([&](kernel::TasksOp tasks) {
      MakePlan make = plannerOf(tasks.getComputeOp());
      if (!make)
        return WalkResult::advance();
      isFirst |= !tasks.getPlanAttr();
      if (recorded > 0)
        gone.erase(kernelDigest(tasks));
      return succeeded(assign(tasks, make, given)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (isFirst)
      tellGone(gone.size(), recorded);
  }

  CostModelTarget machine() const { return {lanes, cacheBytes, dropsPrefetches, prefetchesStreams}; }

  // A record may hold plans of other formats of weights as well; one that suits nothing is stale.
  void tellGone(size_t gone, size_t recorded) {
    if (recorded > 0 && gone == recorded)
      getOperation().emitWarning() << "none of " << recorded << " recorded plans is of a kernel of this program: they "
                                   << "are left out; talc tune finds others";
    else if (gone > 0)
      remarks.declined(getOperation(), [&] {
        return llvm::formatv("{0} of {1} recorded plans are of kernels that this program does not have", gone, recorded)
            .str();
      });
  }

  LogicalResult assign(kernel::TasksOp tasks, MakePlan make, const PlanOverrides &given) {
    PlanAttr known = tasks.getPlanAttr() ? tasks.getPlanAttr() : given.named(tasks);
    if (!known && takeRecorded(tasks, make, given))
      return success();
    std::string problem;
    PlanAttr plan = make(tasks.getComputeOp(), machine(), known, problem);
    if (!problem.empty())
      return tasks.emitOpError() << "cannot be planned so: " << problem;
    tasks.setPlanAttr(plan);
    remarks.did(tasks, [&] { return (known ? "as wished: " : "by the cost model: ") + planText(plan); });
    return success();
  }

  // A recorded plan that does not fit is a stale one, and no fault of the program.
  bool takeRecorded(kernel::TasksOp tasks, MakePlan make, const PlanOverrides &given) {
    PlanAttr recorded = given.recorded(tasks);
    if (!recorded)
      return false;
    std::string problem;
    PlanAttr plan = make(tasks.getComputeOp(), machine(), recorded, problem);
    if (!problem.empty()) {
      tasks.emitWarning() << "kernel " << tasks->getParentOfType<func::FuncOp>().getName()
                          << ": a recorded plan does not fit and is left out: " << problem;
      return false;
    }
    tasks.setPlanAttr(plan);
    remarks.did(tasks, [&] { return "as recorded: " + planText(plan); });
    return true;
  }
};

}  // namespace
