// SPDX-License-Identifier: Apache-2.0
// What rows say of a kernel without a clock: the compiler counted it.
#pragma once

#include "tools/talc/bench/KernelTests.h"

#include <nlohmann/json.hpp>

namespace talc::bench {

nlohmann::ordered_json describeCounts(const KernelResult &result);

}  // namespace talc::bench
