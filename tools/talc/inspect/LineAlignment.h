// SPDX-License-Identifier: Apache-2.0
// Finds corresponding lines of two texts.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace talc::tools {

// `count` lines from `before` on equal those from `after` on.
struct SameLines {
  int before = 0, after = 0, count = 0;
};

// Lines are given as hashes. The runs ascend in both texts. If texts differ in thousands of lines, only their common
// beginnings and ends are found.
std::vector<SameLines> alignLines(llvm::ArrayRef<uint64_t> before, llvm::ArrayRef<uint64_t> after);

}  // namespace talc::tools
