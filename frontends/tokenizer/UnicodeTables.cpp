// SPDX-License-Identifier: Apache-2.0
// Normal forms of the characters of Unicode 9 and grapheme classes of every code point, from utf8proc.
#include "frontends/tokenizer/PipelineStages.h"
#include "frontends/tokenizer/Utf8Text.h"

#include <algorithm>
#include <cstdlib>
#include <utf8proc.h>

namespace talc::frontend {

using namespace tokenizer;

namespace {

constexpr uint32_t lastCodePoint = 0x10FFFF;

using CodePoints = std::vector<uint32_t>;

// The full decomposition; `c` itself if it has none.
CodePoints decompose(uint32_t c, bool compatible) {
  utf8proc_int32_t out[32];
  int boundary = 0;
  auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), out, 32, options, &boundary);
  if (count < 1 || count > 32)
    return {c};
  return CodePoints(out, out + count);
}

// The composed form of canonically decomposed code points.
CodePoints compose(const CodePoints &characters) {
  std::vector<utf8proc_int32_t> buffer(characters.begin(), characters.end());
  auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  auto count = utf8proc_normalize_utf32(buffer.data(), static_cast<utf8proc_ssize_t>(buffer.size()), options);
  return CodePoints(buffer.begin(), buffer.begin() + std::max<utf8proc_ssize_t>(count, 0));
}

Decomposition store(SectionBuilder &section, uint32_t c, const CodePoints &parts) {
  Decomposition entry{c, static_cast<uint32_t>(section.codePoints.size()), static_cast<uint32_t>(parts.size())};
  section.codePoints.insert(section.codePoints.end(), parts.begin(), parts.end());
  return entry;
}

// A primary composite is what remains of its decomposition's composed beginning and the last character.
void addComposition(SectionBuilder &section, uint32_t c, const CodePoints &parts) {
  if (parts.size() < 2 || compose(parts) != CodePoints{c})
    return;
  CodePoints first = compose(CodePoints(parts.begin(), parts.end() - 1));
  if (first.size() == 1)
    section.compositions.push_back({first[0], parts.back(), c});
}

void extend(std::vector<ValueRange> &ranges, uint32_t c, uint32_t value) {
  if (!ranges.empty() && ranges.back().last + 1 == c && ranges.back().value == value)
    ranges.back().last = c;
  else
    ranges.push_back({c, c, value});
}

void addCompatible(SectionBuilder &section, uint32_t c) {
  CodePoints parts = decompose(c, true);
  if (parts != decompose(c, false))
    section.compatible.push_back(store(section, c, parts));
}

void addCanonical(SectionBuilder &section, uint32_t c) {
  CodePoints parts = decompose(c, false);
  if (parts != CodePoints{c}) {
    section.canonical.push_back(store(section, c, parts));
    addComposition(section, c, parts);
  }
  uint32_t combining = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
  if (combining != 0)
    extend(section.combining, c, combining);
}

// Characters of later versions stay as they are, and Hangul syllables are computed.
CharacterSet charactersWithForms() {
  UnicodeProperties unicode(UnicodeVersion::NormalForms);
  CharacterSet others{{0, 0x7F}, {0xAC00, 0xD7A3}};
  for (const char *name : {"Cn", "Cs", "Co"})
    others.add(*unicode.category(name));
  return others.negated();
}

GraphemeClass graphemeClass(uint32_t boundary) {
  switch (boundary) {
  case UTF8PROC_BOUNDCLASS_CR:
    return GraphemeClass::Cr;
  case UTF8PROC_BOUNDCLASS_LF:
    return GraphemeClass::Lf;
  case UTF8PROC_BOUNDCLASS_CONTROL:
    return GraphemeClass::Control;
  case UTF8PROC_BOUNDCLASS_EXTEND:
    return GraphemeClass::Extend;
  case UTF8PROC_BOUNDCLASS_L:
    return GraphemeClass::L;
  case UTF8PROC_BOUNDCLASS_V:
    return GraphemeClass::V;
  case UTF8PROC_BOUNDCLASS_T:
    return GraphemeClass::T;
  case UTF8PROC_BOUNDCLASS_LV:
    return GraphemeClass::Lv;
  case UTF8PROC_BOUNDCLASS_LVT:
    return GraphemeClass::Lvt;
  case UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR:
    return GraphemeClass::RegionalIndicator;
  case UTF8PROC_BOUNDCLASS_SPACINGMARK:
    return GraphemeClass::SpacingMark;
  case UTF8PROC_BOUNDCLASS_PREPEND:
    return GraphemeClass::Prepend;
  case UTF8PROC_BOUNDCLASS_ZWJ:
    return GraphemeClass::Zwj;
  case UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC:
    return GraphemeClass::Pictographic;
  default:
    return GraphemeClass::Other;
  }
}

}  // namespace

void addNormalFormTables(SectionBuilder &section, bool compatible) {
  bool needsCanonical = section.canonical.empty(), needsCompatible = compatible && section.compatible.empty();
  CharacterSet characters = charactersWithForms();
  for (Range range : characters.ranges())
    for (uint32_t c = range.first; c <= range.last; ++c) {
      if (needsCompatible)
        addCompatible(section, c);
      if (needsCanonical)
        addCanonical(section, c);
    }
  std::sort(section.compositions.begin(), section.compositions.end(), [](const Composition &l, const Composition &r) {
    return l.first != r.first ? l.first < r.first : l.second < r.second;
  });
}

void addGraphemeTable(SectionBuilder &section) {
  if (!section.graphemes.empty())
    return;
  for (uint32_t c = 0; c <= lastCodePoint; ++c) {
    GraphemeClass value = graphemeClass(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass);
    if (value != GraphemeClass::Other)
      extend(section.graphemes, c, static_cast<uint32_t>(value));
  }
}

}  // namespace talc::frontend
