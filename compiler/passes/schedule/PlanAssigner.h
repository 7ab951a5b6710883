// SPDX-License-Identifier: Apache-2.0
// Assigns plans to the ops of a module, for the passes that know the tuning parameters of a kind of target.
//
// The first of these that says something of an op decides: the program, a plan override by the kernel's name, a tuning
// record by the kernel's digest. The cost model of the target chooses the parameters that it does not say.
#pragma once

#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/schedule/PlanOverrides.h"

#include <functional>

namespace talc {

class PlanAssigner {
public:
  // Completes the plan of an op of which some parameters are given, which may be null. `problem` says what is wrong
  // with these. An empty function stands for ops without tuning parameters.
  using Planner = std::function<kernel::PlanAttr(kernel::PlanAttr given, std::string &problem)>;
  using FindPlanner = llvm::function_ref<Planner(mlir::Operation *computeOp)>;

  PlanAssigner(PassRemarks remarks, bool (*isParameter)(llvm::StringRef name))
      : remarks(remarks), overrides(isParameter) {}

  // `plans`: the overrides as text. Emits an error if they are wrong, or if a plan does not fit its op.
  mlir::LogicalResult run(mlir::ModuleOp module, llvm::StringRef plans, FindPlanner findPlanner);

private:
  mlir::LogicalResult assign(kernel::TasksOp tasks, const Planner &makePlan);
  bool assignRecorded(kernel::TasksOp tasks, const Planner &makePlan);
  void reportUnmatched(mlir::ModuleOp module, size_t unmatched, size_t recorded);

  const PassRemarks remarks;
  PlanOverrides overrides;
};

}  // namespace talc
