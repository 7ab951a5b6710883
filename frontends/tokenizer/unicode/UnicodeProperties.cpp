// SPDX-License-Identifier: Apache-2.0
// Property sets made of general categories, and case variants.
#include "frontends/tokenizer/unicode/UnicodeProperties.h"

#include <algorithm>
#include <cctype>

namespace talc::frontend {

using tokenizer::Range;

namespace {

constexpr uint32_t lastCodePoint = 0x10FFFF;

// Other_Alphabetic outside of letters, numbers and marks (PropList.txt): circled and squared Latin letters.
CharacterSet otherAlphabetic() {
  return {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
}

std::string simplified(const std::string &name) {
  std::string out;
  for (char c : name)
    if (c != ' ' && c != '_' && c != '-')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct LongName {
  const char *name, *category;
};
constexpr LongName longNames[] = {{"letter", "L"},
                                  {"uppercaseletter", "Lu"},
                                  {"lowercaseletter", "Ll"},
                                  {"titlecaseletter", "Lt"},
                                  {"modifierletter", "Lm"},
                                  {"otherletter", "Lo"},
                                  {"mark", "M"},
                                  {"nonspacingmark", "Mn"},
                                  {"spacingmark", "Mc"},
                                  {"enclosingmark", "Me"},
                                  {"number", "N"},
                                  {"decimalnumber", "Nd"},
                                  {"letternumber", "Nl"},
                                  {"othernumber", "No"},
                                  {"punctuation", "P"},
                                  {"connectorpunctuation", "Pc"},
                                  {"dashpunctuation", "Pd"},
                                  {"openpunctuation", "Ps"},
                                  {"closepunctuation", "Pe"},
                                  {"initialpunctuation", "Pi"},
                                  {"finalpunctuation", "Pf"},
                                  {"otherpunctuation", "Po"},
                                  {"symbol", "S"},
                                  {"mathsymbol", "Sm"},
                                  {"currencysymbol", "Sc"},
                                  {"modifiersymbol", "Sk"},
                                  {"othersymbol", "So"},
                                  {"separator", "Z"},
                                  {"spaceseparator", "Zs"},
                                  {"lineseparator", "Zl"},
                                  {"paragraphseparator", "Zp"},
                                  {"other", "C"},
                                  {"control", "Cc"},
                                  {"format", "Cf"},
                                  {"privateuse", "Co"},
                                  {"unassigned", "Cn"}};

}  // namespace

std::optional<CharacterSet> UnicodeProperties::category(const std::string &name) const {
  CharacterSet result;
  bool isCategory = false;
  for (size_t i = 0; i < categories.size(); ++i) {
    std::string simpleName = simplified(categoryNames[i]);
    if (simplified(name) != simpleName && simplified(name) != simpleName.substr(0, 1))
      continue;
    result.add(categories[i]);
    isCategory = true;
  }
  if (!isCategory)
    return std::nullopt;
  return result;
}

std::optional<CharacterSet> UnicodeProperties::property(const std::string &name) {
  auto [at, isNew] = properties.try_emplace(simplified(name));
  if (isNew)
    at->second = findProperty(at->first);
  return at->second;
}

std::optional<CharacterSet> UnicodeProperties::findProperty(const std::string &key) const {
  if (auto set = category(key))
    return set;
  for (const LongName &entry : longNames)
    if (key == entry.name)
      return category(entry.category);
  if (key == "any")
    return CharacterSet{{0, lastCodePoint}};
  if (key == "ascii")
    return CharacterSet{{0, 0x7F}};
  if (key == "space" || key == "whitespace")
    return whitespace();
  if (key == "word")
    return regexWords();
  if (key == "punct")
    return category("P");
  if (key == "digit")
    return category("Nd");
  if (key == "cntrl")
    return category("Cc");
  if (key == "xdigit")
    return CharacterSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
  if (key == "blank") {
    CharacterSet set = *category("Zs");
    set.add('\t', '\t');
    return set;
  }
  return scriptCharacters(key);
}

CharacterSet UnicodeProperties::whitespace() const {
  CharacterSet set{{0x09, 0x0D}, {0x20, 0x20}, {0x85, 0x85}};
  set.add(*category("Z"));
  return set;
}

CharacterSet UnicodeProperties::words() const {
  CharacterSet set = *category("L");
  for (const char *name : {"M", "Nd", "Nl", "Pc"})
    set.add(*category(name));
  set.add(otherAlphabetic());
  set.add(0x200C, 0x200D);
  return set;
}

CharacterSet UnicodeProperties::regexWords() const {
  CharacterSet set = words().intersected(CharacterSet{{0x200C, 0x200D}}.negated());
  for (auto [first, last] : {Range{0xB2, 0xB3}, Range{0xB9, 0xB9}, Range{0xBC, 0xBE}})
    set.add(first, last);
  return set;
}

namespace {

// The characters that fold to the same one, and themselves, of all that have such relatives.
struct CaseVariants {
  std::vector<std::vector<uint32_t>> families;
  std::vector<std::pair<uint32_t, uint32_t>> familyOf;  // of a character; sorted
};

CaseVariants findCaseVariants() {
  CaseVariants variants;
  std::unordered_map<uint32_t, uint32_t> familyOfFolded;  // family of a folded character
  for (uint32_t c = 0; c <= lastCodePoint; ++c) {
    uint32_t folded = foldedIn(UnicodeVersion::Patterns, c);
    if (folded == c)
      continue;
    auto [at, isNew] = familyOfFolded.try_emplace(folded, static_cast<uint32_t>(variants.families.size()));
    if (isNew)
      variants.families.push_back({folded});
    variants.families[at->second].push_back(c);
  }
  for (uint32_t i = 0; i < variants.families.size(); ++i)
    for (uint32_t c : variants.families[i])
      variants.familyOf.emplace_back(c, i);
  std::sort(variants.familyOf.begin(), variants.familyOf.end());
  return variants;
}

}  // namespace

void UnicodeProperties::addCaseVariants(CharacterSet &set) {
  static const CaseVariants variants = findCaseVariants();
  std::vector<uint32_t> extra;
  auto at = variants.familyOf.begin(), end = variants.familyOf.end();
  for (Range range : set.ranges()) {
    at = std::lower_bound(at, end, std::pair<uint32_t, uint32_t>(range.first, 0));
    for (; at != end && at->first <= range.last; ++at)
      for (uint32_t c : variants.families[at->second])
        extra.push_back(c);
  }
  CharacterSet relatives;
  for (uint32_t c : extra)
    relatives.add(c, c);
  set.add(relatives);
}

}  // namespace talc::frontend
