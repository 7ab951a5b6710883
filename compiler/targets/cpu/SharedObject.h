// SPDX-License-Identifier: Apache-2.0
// Links object code into the shared object that the runtime's loader maps.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace talc::cpu {

// The same bytes for the same object. The result has neither undefined symbols nor needed libraries, and only
// relocations that add the load address.
llvm::Expected<std::vector<uint8_t>> linkSharedObject(llvm::ArrayRef<uint8_t> object);

}  // namespace talc::cpu
