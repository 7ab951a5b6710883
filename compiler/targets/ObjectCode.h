// SPDX-License-Identifier: Apache-2.0
// What LLVM makes of a model's code.
#pragma once

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace talc::targets {

struct ObjectCode {
  std::vector<uint8_t> bytes;  // a relocatable object without undefined symbols
  // How many times a function writes a register to the stack for want of registers; one that is not there never does.
  llvm::StringMap<int64_t> spills;
};

// The same of one function for readers.
struct CodeListing {
  std::string function;
  std::string llvmIr, assembly;  // optimized
  int64_t spills = 0;
  std::string resources = "";  // of a GPU that it takes; empty: it is for processors
};

}  // namespace talc::targets
