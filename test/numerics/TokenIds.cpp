// SPDX-License-Identifier: Apache-2.0
// Parses comma separated integers.
#include "test/numerics/TokenIds.h"

#include "llvm/ADT/SmallVector.h"

namespace talc::numerics {

std::optional<std::vector<int32_t>> parseIntegers(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  std::vector<int32_t> result;
  for (llvm::StringRef part : parts) {
    int32_t value;
    if (part.trim().getAsInteger(10, value))
      return std::nullopt;
    result.push_back(value);
  }
  return result;
}

}  // namespace talc::numerics
