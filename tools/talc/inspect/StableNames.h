// SPDX-License-Identifier: Apache-2.0
// Names of values that a function keeps from pass to pass. MLIR numbers values in their order, so that one more of them
// renames all that follow, and a comparison shows changes where there are none.
#pragma once

#include "tools/talc/inspect/LineAlignment.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace talc::tools {

// The names of one function.
class StableNames {
public:
  struct Text {
    std::string text;
    std::vector<SameLines> same;  // lines that are equal but for names
  };

  // `after` with names as in `before`, an earlier result or nothing, for values of lines that are the same. Values that
  // are new get names that no value had. No value of `after` may have the name of another (printUniqueSSAIDs).
  Text follow(llvm::StringRef before, llvm::StringRef after);

private:
  std::string fresh(llvm::StringRef name);

  llvm::StringMap<int64_t> counts;  // of names with a beginning that have been given
};

}  // namespace talc::tools
