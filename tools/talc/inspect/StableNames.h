// SPDX-License-Identifier: Apache-2.0
// Names of values that stay the same from pass to pass. MLIR numbers values in their order, so that a new value renames
// all that follow, and a comparison shows changes where there are none.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace talc::tools {

// ---- Corresponding lines of two texts (LineAlignment.cpp)

// `count` lines from `before` on equal those from `after` on.
struct SameLines {
  int before = 0, after = 0, count = 0;
};

// Lines are given as hashes. The runs ascend in both texts. If texts differ in thousands of lines, only their common
// beginnings and ends are found.
std::vector<SameLines> alignLines(llvm::ArrayRef<uint64_t> before, llvm::ArrayRef<uint64_t> after);

// ---- Names

// The names of one function.
class StableNames {
public:
  struct Text {
    std::string text;
    std::vector<SameLines> same;  // lines that are equal but for names
  };

  // Returns `after` with the names of `before`, an earlier result or an empty text, for values of equal lines. New
  // values get names that no value had. All names in `after` must differ (printUniqueSSAIDs).
  Text follow(llvm::StringRef before, llvm::StringRef after);

private:
  std::string fresh(llvm::StringRef name);

  llvm::StringMap<int64_t> counts;  // names given so far, by prefix
};

}  // namespace talc::tools
