// SPDX-License-Identifier: Apache-2.0
// The register pressure of a kernel, as its PTX says.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace talc::nvptx {

// The largest number of 32-bit registers that are alive at once; predicates have registers of their own. The driver's
// compiler schedules instructions anew, so that it may need more or fewer.
int64_t ptxRegisterPressure(llvm::StringRef ptx);

}  // namespace talc::nvptx
