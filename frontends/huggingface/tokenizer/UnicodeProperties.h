// SPDX-License-Identifier: Apache-2.0
// Unicode facts as character sets and maps, from utf8proc.
#pragma once

#include "frontends/huggingface/tokenizer/CharacterSet.h"

#include <array>
#include <optional>
#include <string>
#include <unordered_map>

namespace talc::huggingface {

class UnicodeProperties {
public:
  UnicodeProperties();

  // Union of general categories given by their letters: "L", "Lu", "Nd", ... Empty if there is no such category.
  std::optional<CharacterSet> category(const std::string &name) const;
  // A property as \p{...} names it: category, script or class; case, spaces, - and _ do not matter.
  std::optional<CharacterSet> property(const std::string &name) const;

  CharacterSet whitespace() const;   // White_Space
  CharacterSet words() const;        // \w of Unicode (UTS #18): alphabetic, marks, digits, connectors, joiners
  CharacterSet regexWords() const;   // \w of Oniguruma: without joiners, with the Latin-1 superscripts and fractions
  CharacterSet punctuation() const;  // P* and ASCII punctuation, as BERT sees it
  CharacterSet numeric() const { return *category("N"); }

  // Adds the characters that differ from one of the set in case only.
  void addCaseVariants(CharacterSet &set);

private:
  std::array<CharacterSet, 30> categories;                  // by utf8proc category
  std::unordered_map<uint32_t, CharacterSet> caseVariants;  // by folded character; filled on first use

  void findCaseVariants();
};

// The character that `codePoint` folds to, itself if it folds to several.
uint32_t foldCase(uint32_t codePoint);

// Code points of one script, by its Unicode name in lower case without separators ("han", "oldpersian").
std::optional<CharacterSet> scriptCharacters(const std::string &name);

}  // namespace talc::huggingface
