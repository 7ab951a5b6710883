// SPDX-License-Identifier: Apache-2.0
// Turns the texts of tokens into one text, in memory that is kept so that the next text allocates nothing.
#pragma once

#include "runtime/tokenizer/Section.h"

#include <string>
#include <utility>
#include <vector>

namespace talc {

// A list of strings that keeps the memory of those that were in it.
class TextList {
public:
  void clear() { used = 0; }
  // An empty string at the end.
  std::string &add() {
    if (used == texts.size())
      texts.emplace_back();
    texts[used].clear();
    return texts[used++];
  }
  size_t size() const { return used; }
  std::string &operator[](size_t i) { return texts[i]; }
  const std::string &operator[](size_t i) const { return texts[i]; }
  void swap(TextList &other) {
    texts.swap(other.texts);
    std::swap(used, other.used);
  }

private:
  std::vector<std::string> texts;
  size_t used = 0;
};

// Any number of texts use one, one after another.
struct DecodeScratch {
  TextList tokens, next;  // of the decoder that runs: what it is given, and what it makes
  std::string text;
  std::string decoded;  // the result of a text stream
};

namespace tokenizer {

// Runs the section's decoders on scratch.tokens, and appends their result to `text`, which must not be a string of the
// scratch that decoders use. The result is UTF-8.
void decodeTokens(const Section &section, DecodeScratch &scratch, std::string &text);

}  // namespace tokenizer
}  // namespace talc
