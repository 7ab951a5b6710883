// SPDX-License-Identifier: Apache-2.0
// Object code of functions, and listings of it.
#pragma once

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace talc::targets {

struct ObjectCode {
  std::vector<uint8_t> bytes;  // a relocatable object without undefined symbols
  // The number of registers that a function spills; functions without spills are not listed.
  llvm::StringMap<int64_t> spills;
};

// The code of one function, for people to read.
struct CodeListing {
  std::string function;
  std::string llvmIr, assembly;  // optimized
  int64_t spills = 0;
  std::string resources = "";  // of a GPU that it takes; empty: it is for processors
};

}  // namespace talc::targets
