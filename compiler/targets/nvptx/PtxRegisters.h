// SPDX-License-Identifier: Apache-2.0
// The registers that a kernel takes: as its PTX suggests, and as NVIDIA's assembler allocates them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc::nvptx {

// The largest number of 32-bit registers that are alive at once; predicates have registers of their own. The driver's
// compiler schedules instructions anew, so that it may need more or fewer.
int64_t ptxRegisterPressure(llvm::StringRef ptx);

// The registers of the only kernel in `ptx`. None: ptxas is not in PATH, or rejects the PTX.
std::optional<int64_t> ptxasRegisters(llvm::StringRef ptx, const std::string &chip);

}  // namespace talc::nvptx
