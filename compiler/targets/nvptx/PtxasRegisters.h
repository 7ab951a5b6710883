// SPDX-License-Identifier: Apache-2.0
// How many registers a kernel takes, by NVIDIA's assembler.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc::nvptx {

// Of the only kernel of a text. None: ptxas is not among the programs of PATH, or does not take the text.
std::optional<int64_t> ptxasRegisters(llvm::StringRef ptx, const std::string &chip);

}  // namespace talc::nvptx
