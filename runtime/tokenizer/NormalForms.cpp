// SPDX-License-Identifier: Apache-2.0
// Decompose, order combining marks, compose. Hangul syllables are computed (Unicode, section 3.12).
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <vector>

namespace talc::tokenizer {
namespace {

constexpr uint32_t syllableBase = 0xAC00, leadBase = 0x1100, vowelBase = 0x1161, tailBase = 0x11A7;
constexpr uint32_t leadCount = 19, vowelCount = 21, tailCount = 28;
constexpr uint32_t syllableCount = leadCount * vowelCount * tailCount;

struct Character {
  uint32_t codePoint;
  uint32_t combining;  // class; 0: a starter
  size_t index;        // keeps equal classes in order
};

class Normalizer {
public:
  Normalizer(const Section &section, NormalForm form) : section(section), form(form) {}

  void run(std::string_view text, std::string &out) {
    for (size_t i = 0; i < text.size();)
      decompose(decodeAt(text, i));
    order();
    if (form == NormalForm::Nfc || form == NormalForm::Nfkc)
      compose();
    for (const Character &c : characters)
      appendUtf8(out, c.codePoint);
  }

private:
  const Section &section;
  NormalForm form;
  std::vector<Character> characters;

  void add(uint32_t codePoint) {
    const ValueRange *range = findRange(section.combining, codePoint);
    characters.push_back({codePoint, range ? range->value : 0, characters.size()});
  }

  const Decomposition *find(Array<Decomposition> table, uint32_t codePoint) const {
    auto before = [](const Decomposition &d, uint32_t c) { return d.character < c; };
    const Decomposition *at = std::lower_bound(table.begin(), table.end(), codePoint, before);
    return at != table.end() && at->character == codePoint ? at : nullptr;
  }

  void decompose(uint32_t codePoint) {
    if (codePoint < 0x80)
      return characters.push_back({codePoint, 0, characters.size()});
    uint32_t index = codePoint - syllableBase;
    if (index < syllableCount) {
      add(leadBase + index / (vowelCount * tailCount));
      add(vowelBase + index / tailCount % vowelCount);
      if (index % tailCount != 0)
        add(tailBase + index % tailCount);
      return;
    }
    const Decomposition *mapping = nullptr;
    if (form == NormalForm::Nfkd || form == NormalForm::Nfkc)
      mapping = find(section.compatible, codePoint);
    if (!mapping)
      mapping = find(section.canonical, codePoint);
    if (!mapping)
      return add(codePoint);
    for (uint32_t i = 0; i < mapping->codePointCount; ++i)
      add(section.codePoints[mapping->firstCodePoint + i]);
  }

  // By class within each run of non-starters; a sort, because a hostile text has long runs.
  void order() {
    for (size_t i = 0; i < characters.size();) {
      size_t end = i;
      while (end < characters.size() && characters[end].combining != 0)
        ++end;
      std::sort(characters.begin() + i, characters.begin() + end, [](const Character &l, const Character &r) {
        return l.combining != r.combining ? l.combining < r.combining : l.index < r.index;
      });
      i = end + 1;
    }
  }

  // The primary composite, or 0.
  uint32_t composite(uint32_t first, uint32_t second) const {
    if (first - leadBase < leadCount && second - vowelBase < vowelCount)
      return syllableBase + ((first - leadBase) * vowelCount + (second - vowelBase)) * tailCount;
    uint32_t index = first - syllableBase;
    if (index < syllableCount && index % tailCount == 0 && second - tailBase - 1 < tailCount - 1)
      return first + (second - tailBase);
    auto before = [&](const Composition &c, int) { return c.first != first ? c.first < first : c.second < second; };
    const Composition *at = std::lower_bound(section.compositions.begin(), section.compositions.end(), 0, before);
    return at != section.compositions.end() && at->first == first && at->second == second ? at->composite : 0;
  }

  void compose() {
    size_t length = 0, starter = SIZE_MAX;
    uint32_t lastClass = 0;  // of the last character kept behind the starter
    for (const Character &c : characters) {
      bool adjacent = starter != SIZE_MAX && starter + 1 == length;
      bool blocked = starter == SIZE_MAX || (!adjacent && lastClass >= c.combining);
      uint32_t composed = blocked ? 0 : composite(characters[starter].codePoint, c.codePoint);
      if (composed != 0) {
        characters[starter].codePoint = composed;
        continue;
      }
      lastClass = c.combining;
      if (c.combining == 0)
        starter = length;
      characters[length++] = c;
    }
    characters.resize(length);
  }
};

}  // namespace

void appendNormalized(const Section &section, NormalForm form, std::string_view text, std::string &out) {
  bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii)
    out += text;
  else
    Normalizer(section, form).run(text, out);
}

}  // namespace talc::tokenizer
