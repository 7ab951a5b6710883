// SPDX-License-Identifier: Apache-2.0
// How many registers a kernel needs, as its PTX says.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace talc::nvptx {

// The most registers of 32 bits that live at once in a kernel's text; predicates have their own. The driver's compiler
// orders instructions anew, so that it may take more or fewer.
int64_t ptxRegisterPressure(llvm::StringRef ptx);

}  // namespace talc::nvptx
