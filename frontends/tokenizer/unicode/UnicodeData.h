// SPDX-License-Identifier: Apache-2.0
// What utf8proc does not know: changes from version to version of Unicode, and scripts. UnicodeData.mjs writes the
// tables.
#pragma once

#include <cstdint>
#include <vector>

namespace talc::frontend {

// Characters whose general category is `to` from this version on; before it was `from`. Sorted by version.
struct CategoryChange {
  uint32_t version;
  const char *from, *to;
  const char *ranges;  // as CharacterSet::parse reads them
};
extern const std::vector<CategoryChange> categoryChanges;

// first..last have the lower case lower, lower + 1, ... from this version on; before they had none.
struct LowercaseChange {
  uint32_t version;
  uint32_t first, last, lower;
};
extern const std::vector<LowercaseChange> lowercaseChanges;

// The Script property of Unicode 16.
struct Script {
  const char *name;  // lower case, no separators
  const char *ranges;
};
extern const std::vector<Script> scripts;

}  // namespace talc::frontend
