// SPDX-License-Identifier: Apache-2.0
// Normal forms of the characters of Unicode 9 and grapheme classes of every code point, from utf8proc.
#include "frontends/tokenizer/stages/PipelineStages.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

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

// The normal forms of a character; empty or 0 if it has none.
struct CharacterForms {
  uint32_t character;
  CodePoints canonical, compatible;
  Composition composition;  // whose result it is
  uint32_t combining;
};

// A primary composite is what remains of its decomposition's composed beginning and the last character.
Composition findComposition(uint32_t c, const CodePoints &parts) {
  if (parts.size() < 2 || compose(parts) != CodePoints{c})
    return {};
  CodePoints first = compose(CodePoints(parts.begin(), parts.end() - 1));
  return first.size() == 1 ? Composition{first[0], parts.back(), c} : Composition{};
}

void extend(std::vector<ValueRange> &ranges, uint32_t c, uint32_t value) {
  if (!ranges.empty() && ranges.back().last + 1 == c && ranges.back().value == value)
    ranges.back().last = c;
  else
    ranges.push_back({c, c, value});
}

// Characters of later versions stay as they are, and Hangul syllables are computed.
CharacterSet charactersWithForms() {
  UnicodeProperties unicode(UnicodeVersion::NormalForms);
  CharacterSet others{{0, 0x7F}, {0xAC00, 0xD7A3}};
  for (const char *name : {"Cn", "Cs", "Co"})
    others.add(*unicode.category(name));
  return others.negated();
}

std::vector<CharacterForms> findForms() {
  std::vector<CharacterForms> forms;
  CharacterSet characters = charactersWithForms();
  for (Range range : characters.ranges())
    for (uint32_t c = range.first; c <= range.last; ++c) {
      CharacterForms found{c, decompose(c, false), decompose(c, true), {}, 0};
      found.combining = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
      if (found.compatible == found.canonical)
        found.compatible.clear();
      if (found.canonical == CodePoints{c})
        found.canonical.clear();
      found.composition = findComposition(c, found.canonical);
      if (!found.canonical.empty() || !found.compatible.empty() || found.combining != 0)
        forms.push_back(std::move(found));
    }
  return forms;
}

void addCanonical(SectionBuilder &section, const CharacterForms &forms) {
  if (!forms.canonical.empty())
    section.canonical.push_back(store(section, forms.character, forms.canonical));
  if (forms.composition.composite != 0)
    section.compositions.push_back(forms.composition);
  if (forms.combining != 0)
    extend(section.combining, forms.character, forms.combining);
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

std::vector<ValueRange> findGraphemes() {
  std::vector<ValueRange> graphemes;
  for (uint32_t c = 0; c <= lastCodePoint; ++c) {
    GraphemeClass value = graphemeClass(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass);
    if (value != GraphemeClass::Other)
      extend(graphemes, c, static_cast<uint32_t>(value));
  }
  return graphemes;
}

}  // namespace

// Computed once in a process.
void addNormalFormTables(SectionBuilder &section, bool compatible) {
  bool needsCanonical = section.canonical.empty(), needsCompatible = compatible && section.compatible.empty();
  static const std::vector<CharacterForms> all = findForms();
  for (const CharacterForms &forms : all) {
    if (needsCompatible && !forms.compatible.empty())
      section.compatible.push_back(store(section, forms.character, forms.compatible));
    if (needsCanonical)
      addCanonical(section, forms);
  }
  std::sort(section.compositions.begin(), section.compositions.end(), [](const Composition &l, const Composition &r) {
    return l.first != r.first ? l.first < r.first : l.second < r.second;
  });
}

void addGraphemeTable(SectionBuilder &section) {
  static const std::vector<ValueRange> graphemes = findGraphemes();
  section.graphemes = graphemes;
}

}  // namespace talc::frontend
