// SPDX-License-Identifier: Apache-2.0
// How the threads share the tiles of a contraction: the numbers of a plan that distribute-tasks reads.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"

namespace talc {

struct DistributionPlan {
  // Fewer rows are not claimed: every thread reads the weights of its panels once, in order.
  int64_t claimedRows = 24;
  // So many tasks make a share, of which others can take some, unless blocks would fall below so many rows.
  int64_t shareTasks = 8, shareRows = 32;
  // 1: the tasks of a group of panels follow each other, so that its weights stay in cache; 0: those of a block of
  // rows, so that these do.
  int64_t byPanels = 0;

  static llvm::ArrayRef<TuningParameter<DistributionPlan>> parameters();
};

}  // namespace talc
