// SPDX-License-Identifier: Apache-2.0
// How texts and records name a kernel and the numbers of its plan.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#include <string>

namespace talc {

// Equal for pieces that compute the same: a digest of the piece with its tasks, without a plan and whatever it is
// called.
std::string kernelDigest(kernel::TasksOp tasks);

// tile_rows = 4, block_rows = 96
std::string planText(kernel::PlanAttr plan);

}  // namespace talc
