// SPDX-License-Identifier: Apache-2.0
// Divides PTX text into words, numbers and punctuation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace talc::ptx {

struct Token {
  enum class Kind { Word, Number, Sign, String, End };
  Kind kind;
  std::string_view text;
  int line;

  bool is(std::string_view expected) const { return text == expected && kind != Kind::String; }
};

// `text` must outlive the tokens; the last one is End.
std::vector<Token> tokenize(std::string_view text);

// The bits of 12, -1, 0x1F, 0f3F800000, 0d3FF0000000000000.
uint64_t numberBits(const Token &token);

}  // namespace talc::ptx
