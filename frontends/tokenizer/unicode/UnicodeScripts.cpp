// SPDX-License-Identifier: Apache-2.0
// The Script property: of Unicode 16 in patterns, of Unicode 9 for splits at scripts.
#include "frontends/tokenizer/stages/PipelineStages.h"
#include "frontends/tokenizer/unicode/UnicodeData.h"

#include <algorithm>

namespace talc::frontend {

using namespace tokenizer;

namespace {

// The characters whose script in Unicode 9 differs from that in Unicode 16.
struct MovedCharacters {
  const char *script;
  Range range;
};
constexpr MovedCharacters scriptsInUnicode9[] = {
    {"common", {0x589, 0x589}}, {"common", {0x61C, 0x61C}}, {"devanagari", {0x953, 0x954}}};

CharacterSet charactersInUnicode9(const Script &script, const CharacterSet &assigned) {
  CharacterSet characters = CharacterSet::parse(script.ranges).intersected(assigned);
  for (const MovedCharacters &moved : scriptsInUnicode9) {
    CharacterSet range{moved.range};
    if (script.name == std::string_view(moved.script))
      characters.add(range);
    else
      characters = characters.intersected(range.negated());
  }
  return characters;
}

}  // namespace

std::optional<CharacterSet> scriptCharacters(const std::string &name) {
  for (const Script &script : scripts)
    if (name == script.name)
      return CharacterSet::parse(script.ranges);
  return std::nullopt;
}

// Japanese is written in three scripts at once, so kana count as Han; a space belongs to any script.
void addScriptTable(SectionBuilder &section) {
  if (!section.scripts.empty())
    return;
  constexpr uint32_t prolongedSoundMark = 0x30FC, han = 1;
  CharacterSet apart = *UnicodeProperties(UnicodeVersion::NormalForms).category("Cn");
  apart.add({{' ', ' '}, {prolongedSoundMark, prolongedSoundMark}});
  CharacterSet counted = apart.negated();
  section.scripts.push_back({prolongedSoundMark, prolongedSoundMark, han});
  uint32_t next = han + 1;
  for (const Script &script : scripts) {
    std::string name = script.name;
    bool isJapanese = name == "han" || name == "hiragana" || name == "katakana";
    uint32_t value = isJapanese ? han : next++;
    CharacterSet characters = charactersInUnicode9(script, counted);
    for (Range range : characters.ranges())
      section.scripts.push_back({range.first, range.last, value});
  }
  std::sort(section.scripts.begin(), section.scripts.end(),
            [](const ValueRange &l, const ValueRange &r) { return l.first < r.first; });
}

}  // namespace talc::frontend
