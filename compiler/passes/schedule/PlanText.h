// SPDX-License-Identifier: Apache-2.0
// Text that identifies a kernel and its plan, for remarks and tuning records.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#include <string>

namespace talc {

// A digest of a compute op with its tasks, but without its plan and name: equal for ops that compute the same.
std::string kernelDigest(kernel::TasksOp tasks);

// tile_rows = 4, block_rows = 96
std::string planText(kernel::PlanAttr plan);

}  // namespace talc
