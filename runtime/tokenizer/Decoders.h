// SPDX-License-Identifier: Apache-2.0
// Turns the texts of tokens into one text, at once or as the tokens come, in memory that is kept so that the next text
// allocates nothing.
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

// A decoder remembers this of a text from one call to the next.
struct DecodeState {
  std::string held;      // bytes whose meaning depends on what follows; Ctc: the last token; Replace: also context
  size_t count = 0;      // tokens so far; Strip: how often it removed at the beginning; Replace: bytes of `held` done
  bool isAfter = false;  // Strip: the beginning is over; Replace: a match ended at `count`
};

// Any number of texts use one, one after another.
struct DecodeScratch {
  TextList tokens, next;  // of the decoder that runs: what it is given, and what it makes
  std::string text;
  std::string decoded, peeked;      // the results of a text stream
  std::vector<DecodeState> states;  // of a text that is decoded at once, or that a stream would end
};

namespace tokenizer {

// What comes after the tokens of a call. More of them, so that what they may change is held back; text that is shown
// apart from this one, so that only an unfinished character is, and what separates both; or nothing.
enum class After { Tokens, OtherText, Nothing };

// Runs the section's decoders on scratch.tokens, the next tokens of a text, and stores in `text` what they complete;
// `text` must not be a string of the scratch that decoders use. It is UTF-8. `states`: one for each decoder, new ones
// at the beginning of a text. However the tokens are divided among calls, the texts together are the same.
void decodeTokens(const Section &section, std::vector<DecodeState> &states, After after, DecodeScratch &scratch,
                  std::string &text);

}  // namespace tokenizer
}  // namespace talc
