// SPDX-License-Identifier: Apache-2.0
// Lists of integers on a command line.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace talc::numerics {

// "5,7,9"; nothing if the text is something else.
std::optional<std::vector<int32_t>> parseIntegers(llvm::StringRef text);

}  // namespace talc::numerics
