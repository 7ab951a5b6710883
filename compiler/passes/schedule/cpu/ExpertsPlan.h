// SPDX-License-Identifier: Apache-2.0
// The numbers of a plan of kernel.experts.
#pragma once

#include "compiler/passes/schedule/PlanNumbers.h"
#include "compiler/passes/schedule/cpu/RegisterTile.h"

namespace talc {

struct ExpertsPlan {
  int64_t tileRows = talc::tileRows, tileSteps = 2;  // rows, and steps of k per iteration
  int64_t blockRows = 192;                           // rows of a task
  int64_t taskPanels = 1;

  static llvm::ArrayRef<PlanNumber<ExpertsPlan>> numbers();
};

}  // namespace talc
