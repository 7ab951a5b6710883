// SPDX-License-Identifier: Apache-2.0
// Character maps: one value for a set, and lower case.
#include "frontends/tokenizer/CaseMaps.h"
#include "frontends/tokenizer/UnicodeVersions.h"

namespace talc::frontend {

using namespace tokenizer;

std::vector<CharMapping> mapSet(const CharacterSet &set, MapKind kind, uint32_t value) {
  std::vector<CharMapping> mappings;
  for (Range range : set.ranges())
    mappings.push_back({range.first, range.last, static_cast<uint32_t>(kind), value});
  return mappings;
}

constexpr uint32_t dottedCapitalI = 0x130;  // the only character with an unconditional expansion in SpecialCasing.txt

static std::vector<CharMapping> findLowercase() {
  std::vector<CharMapping> mappings;
  for (uint32_t c = 0; c <= 0x10FFFF; ++c) {
    uint32_t lower = lowercaseIn(UnicodeVersion::Characters, c);
    if (lower == c || c == dottedCapitalI)
      continue;
    uint32_t shift = lower - c;
    bool extends = !mappings.empty() && mappings.back().last + 1 == c && mappings.back().value == shift;
    if (extends)
      mappings.back().last = c;
    else
      mappings.push_back({c, c, static_cast<uint32_t>(MapKind::Shift), shift});
  }
  return mappings;
}

uint32_t addLowercaseMap(SectionBuilder &section) {
  static const std::vector<CharMapping> lowercase = findLowercase();
  std::vector<CharMapping> mappings = lowercase;
  uint32_t expansion = section.addExpansion("i\xCC\x87");
  mappings.push_back({dottedCapitalI, dottedCapitalI, static_cast<uint32_t>(MapKind::Expand), expansion});
  return section.addMap(std::move(mappings));
}

}  // namespace talc::frontend
