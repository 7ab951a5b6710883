// SPDX-License-Identifier: Apache-2.0
// assign-plans: every piece that has a choice gets its plan, the one place where plans are chosen.
//
//   kernel.tasks %s over tiles by rows { kernel.contract ... }
//     ->  kernel.tasks %s over tiles by rows plan<block_rows = 192, ..., tile_rows = 6> { kernel.contract ... }
//
// The first that says something of a piece counts: the program, the option `plans` by the kernel's name, the same by
// its digest (records). What it does not say, the cost model does.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/AttentionSchedule.h"
#include "compiler/passes/schedule/cpu/ContractPlan.h"
#include "compiler/passes/schedule/cpu/GeneratorPlan.h"
#include "compiler/passes/schedule/cpu/GivenPlans.h"
#include "compiler/passes/schedule/cpu/LineCode.h"
#include "compiler/passes/schedule/cpu/RowPlan.h"
#include "compiler/passes/schedule/cpu/SharePlan.h"
#include "compiler/passes/schedule/cpu/rows/OwnRowPieces.h"

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
using MakePlan = PlanAttr (*)(Operation *piece, const CostMachine &machine, PlanAttr given, std::string &problem);

PlanAttr withShares(PlanAttr plan, PlanAttr given, std::string &problem) {
  SharePlan shares;
  if (problem.empty())
    problem = readPlan(given, SharePlan::numbers(), shares);
  return writePlan(plan.getContext(), SharePlan::numbers(), shares, plan);
}

PlanAttr withGenerator(PlanAttr plan, PlanAttr given, std::string &problem) {
  GeneratorPlan generator;
  if (problem.empty())
    problem = readPlan(given, GeneratorPlan::numbers(), generator);
  return writePlan(plan.getContext(), GeneratorPlan::numbers(), generator, plan);
}

PlanAttr planProducts(const ContractShape &shape, const CostMachine &machine, PlanAttr given, std::string &problem) {
  ContractPlan plan(shape, machine);
  problem = readPlan(given, ContractPlan::numbers(), plan);
  if (!given || !given.number("layout_rows"))
    plan.fitLayout();
  if (problem.empty())
    problem = plan.contradiction();
  return writePlan(shape.x.getContext(), ContractPlan::numbers(), plan);
}

PlanAttr planContract(Operation *piece, const CostMachine &machine, PlanAttr given, std::string &problem) {
  PlanAttr numbers = planProducts(ContractShape::of(cast<kernel::ContractOp>(piece)), machine, given, problem);
  return withShares(withGenerator(numbers, given, problem), given, problem);
}

PlanAttr planExperts(Operation *piece, const CostMachine &machine, PlanAttr given, std::string &problem) {
  PlanAttr numbers = planProducts(ContractShape::of(cast<kernel::ExpertsOp>(piece)), machine, given, problem);
  return withShares(numbers, given, problem);
}

// Where fetches may have to wait, they keep others waiting.
PlanAttr planAttention(Operation *piece, const CostMachine &machine, PlanAttr given, std::string &problem) {
  AttentionSchedule plan = scheduleOf(cast<kernel::AttentionOp>(piece), given, problem);
  if (!given || !given.number("fetch_next"))
    plan.fetch = machine.dropsFetches;
  return withGenerator(writePlan(piece->getContext(), AttentionSchedule::numbers(), plan), given, problem);
}

PlanAttr planRows(Operation *piece, const CostMachine &, PlanAttr given, std::string &problem) {
  RowPlan plan;
  problem = readPlan(given, RowPlan::numbers(), plan);
  PlanAttr numbers = writePlan(piece->getContext(), RowPlan::numbers(), plan);
  return isOfLines(piece) ? withGenerator(numbers, given, problem) : numbers;
}

// Null: the piece has no choice.
MakePlan plannerOf(Operation *piece) {
  if (!piece)
    return nullptr;
  if (isa<kernel::ContractOp>(piece))
    return planContract;
  if (isa<kernel::ExpertsOp>(piece))
    return planExperts;
  if (isa<kernel::AttentionOp>(piece))
    return planAttention;
  return findRowPiece(piece) ? planRows : nullptr;
}

struct AssignPlans : talc::impl::AssignPlansBase<AssignPlans> {
  using Base::Base;

  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    GivenPlans given;
    if (std::string problem = given.parse(plans); !problem.empty()) {
      getOperation().emitError() << "plans: " << problem;
      return signalPassFailure();
    }
    std::set<std::string> gone = given.digests();
    const size_t recorded = gone.size();
    bool isFirst = false;  // pieces have no plans yet
    auto result = getOperation().walk([&](kernel::TasksOp tasks) {
      MakePlan make = plannerOf(tasks.getPiece());
      if (!make)
        return WalkResult::advance();
      isFirst |= !tasks.getPlanAttr();
      if (recorded > 0)
        gone.erase(digestOf(tasks));
      return succeeded(assign(tasks, make, given)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (isFirst)
      tellGone(gone.size(), recorded);
  }

  CostMachine machine() const { return {lanes, cacheBytes, dropsFetches, followsStreams}; }

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

  LogicalResult assign(kernel::TasksOp tasks, MakePlan make, const GivenPlans &given) {
    PlanAttr known = tasks.getPlanAttr() ? tasks.getPlanAttr() : given.named(tasks);
    if (!known && takeRecorded(tasks, make, given))
      return success();
    std::string problem;
    PlanAttr plan = make(tasks.getPiece(), machine(), known, problem);
    if (!problem.empty())
      return tasks.emitOpError() << "cannot be planned so: " << problem;
    tasks.setPlanAttr(plan);
    remarks.did(tasks, [&] { return (known ? "as wished: " : "by the cost model: ") + textOf(plan); });
    return success();
  }

  // A recorded plan that does not fit is a stale one, and no fault of the program.
  bool takeRecorded(kernel::TasksOp tasks, MakePlan make, const GivenPlans &given) {
    PlanAttr recorded = given.recorded(tasks);
    if (!recorded)
      return false;
    std::string problem;
    PlanAttr plan = make(tasks.getPiece(), machine(), recorded, problem);
    if (!problem.empty()) {
      tasks.emitWarning() << "kernel " << tasks->getParentOfType<func::FuncOp>().getName()
                          << ": a recorded plan does not fit and is left out: " << problem;
      return false;
    }
    tasks.setPlanAttr(plan);
    remarks.did(tasks, [&] { return "as recorded: " + textOf(plan); });
    return true;
  }
};

}  // namespace
