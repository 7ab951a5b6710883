// SPDX-License-Identifier: Apache-2.0
// The registers that a kernel takes, according to NVIDIA's assembler.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc::nvptx {

// The registers of the only kernel in `ptx`. None: ptxas is not in PATH, or rejects the PTX.
std::optional<int64_t> ptxasRegisters(llvm::StringRef ptx, const std::string &chip);

}  // namespace talc::nvptx
