// SPDX-License-Identifier: Apache-2.0
// Which lines of two texts correspond.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace talc::tools {

// `count` lines from `before` on are those from `after` on.
struct SameLines {
  int before = 0, after = 0, count = 0;
};

// Lines are numbers that are equal where the lines are: hashes. The runs ascend in both texts. Of texts that differ in
// thousands of lines only what they begin and end with is found.
std::vector<SameLines> alignLines(llvm::ArrayRef<uint64_t> before, llvm::ArrayRef<uint64_t> after);

}  // namespace talc::tools
