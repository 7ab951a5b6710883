// SPDX-License-Identifier: Apache-2.0
// Every library that Hugging Face's tokenizers are made of brings its own version of Unicode; utf8proc has yet another.
#pragma once

#include "frontends/tokenizer/unicode/CharacterSet.h"

#include <array>
#include <cstddef>

namespace talc::frontend {

enum class UnicodeVersion : uint32_t {
  Bert = 8,         // BERT's normalizer, splits at punctuation (unicode_categories)
  NormalForms = 9,  // NFC to NFKD, StripAccents, UnicodeScripts (unicode-normalization-alignments)
  Patterns = 16,    // regular expressions, Whitespace, single words (Oniguruma, regex)
  Characters = 17,  // Lowercase, Digits (Rust's char)
};

constexpr std::size_t categoryCount = 30;
// In the order of utf8proc_category_t.
constexpr const char *categoryNames[categoryCount] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                                      "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                                      "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

// The characters of each general category, whatever the version of utf8proc. Found once in a process.
using Categories = std::array<CharacterSet, categoryCount>;
const Categories &categoriesIn(UnicodeVersion version);

// The one character that is the lower case of another, or that it folds to; itself if there is none.
uint32_t lowercaseIn(UnicodeVersion version, uint32_t codePoint);
uint32_t foldedIn(UnicodeVersion version, uint32_t codePoint);

}  // namespace talc::frontend
