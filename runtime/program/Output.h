// SPDX-License-Identifier: Apache-2.0
// Writes standard output and notices when that fails (full disk, closed pipe).
#pragma once

#include "runtime/Status.h"

#include <string_view>
#include <vector>

namespace talc::program {

// Complete on return: a reader sees text as it is made.
Status printOut(std::string_view text);

std::string joinIds(const std::vector<int32_t> &ids);

}  // namespace talc::program
