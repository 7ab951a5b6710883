// SPDX-License-Identifier: Apache-2.0
// utf8proc's facts, with later versions undone and newer ones applied.
#include "frontends/tokenizer/unicode/UnicodeVersions.h"
#include "frontends/tokenizer/unicode/UnicodeData.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utf8proc.h>
#include <vector>

namespace talc::frontend {

namespace {

constexpr uint32_t codePointCount = 0x110000;

uint8_t categoryIndex(std::string_view name) {
  return static_cast<uint8_t>(std::find(categoryNames, categoryNames + categoryCount, name) - categoryNames);
}

// Changes that utf8proc has made already, or has not made yet, change nothing.
void change(std::vector<uint8_t> &categoryOf, const char *ranges, const char *category) {
  CharacterSet characters = CharacterSet::parse(ranges);
  for (tokenizer::Range range : characters.ranges())
    std::fill(categoryOf.begin() + range.first, categoryOf.begin() + range.last + 1, categoryIndex(category));
}

// Capitals that are new in some version fold to their lower case.
std::optional<uint32_t> changedLowercase(UnicodeVersion version, uint32_t codePoint) {
  for (const LowercaseChange &row : lowercaseChanges)
    if (codePoint >= row.first && codePoint <= row.last)
      return row.version > static_cast<uint32_t>(version) ? codePoint : row.lower + (codePoint - row.first);
  return std::nullopt;
}

}  // namespace

static Categories findCategories(UnicodeVersion version) {
  std::vector<uint8_t> categoryOf(codePointCount);
  for (uint32_t c = 0; c < codePointCount; ++c)
    categoryOf[c] = static_cast<uint8_t>(utf8proc_category(static_cast<utf8proc_int32_t>(c)));
  auto isLater = [&](const CategoryChange &row) { return row.version > static_cast<uint32_t>(version); };
  auto later = std::find_if(categoryChanges.begin(), categoryChanges.end(), isLater);
  for (auto row = categoryChanges.begin(); row != later; ++row)
    change(categoryOf, row->ranges, row->to);
  for (auto row = categoryChanges.rbegin(); row != std::make_reverse_iterator(later); ++row)
    change(categoryOf, row->ranges, row->from);

  Categories categories;
  for (uint32_t c = 0; c < codePointCount; ++c)
    categories[categoryOf[c]].add(c, c);
  return categories;
}

const Categories &categoriesIn(UnicodeVersion version) {
  switch (version) {
  case UnicodeVersion::Bert: {
    static const Categories found = findCategories(version);
    return found;
  }
  case UnicodeVersion::NormalForms: {
    static const Categories found = findCategories(version);
    return found;
  }
  case UnicodeVersion::Patterns: {
    static const Categories found = findCategories(version);
    return found;
  }
  case UnicodeVersion::Characters: {
    static const Categories found = findCategories(version);
    return found;
  }
  }
}

uint32_t lowercaseIn(UnicodeVersion version, uint32_t codePoint) {
  if (auto lower = changedLowercase(version, codePoint))
    return *lower;
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(codePoint)));
}

uint32_t foldedIn(UnicodeVersion version, uint32_t codePoint) {
  if (auto lower = changedLowercase(version, codePoint))
    return *lower;
  utf8proc_int32_t out[4];
  int boundary = 0;
  auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(codePoint), out, 4, UTF8PROC_CASEFOLD, &boundary);
  return count == 1 ? static_cast<uint32_t>(out[0]) : codePoint;
}

}  // namespace talc::frontend
