// SPDX-License-Identifier: Apache-2.0
// Facts of one version of Unicode as character sets and maps.
#pragma once

#include "frontends/tokenizer/unicode/UnicodeVersions.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace talc::frontend {

class UnicodeProperties {
public:
  explicit UnicodeProperties(UnicodeVersion version = UnicodeVersion::Patterns) : categories(categoriesIn(version)) {}

  // Union of general categories given by their letters: "L", "Lu", "Nd", ... Empty if there is no such category.
  std::optional<CharacterSet> category(const std::string &name) const;
  // A property as \p{...} names it: category, script or class; case, spaces, - and _ do not matter.
  std::optional<CharacterSet> property(const std::string &name);

  CharacterSet whitespace() const;  // White_Space
  CharacterSet words() const;       // \w of Unicode (UTS #18): alphabetic, marks, digits, connectors, joiners
  CharacterSet regexWords() const;  // \w of Oniguruma: without joiners, with the Latin-1 superscripts and fractions

  // Adds the characters that differ from one of the set in case only.
  void addCaseVariants(CharacterSet &set);

private:
  const Categories &categories;
  std::unordered_map<std::string, std::optional<CharacterSet>> properties;  // those asked for, by simplified name

  std::optional<CharacterSet> findProperty(const std::string &key) const;
};

// Code points of one script in Unicode 16, by its Unicode name in lower case without separators ("han", "oldpersian").
std::optional<CharacterSet> scriptCharacters(const std::string &name);

}  // namespace talc::frontend
