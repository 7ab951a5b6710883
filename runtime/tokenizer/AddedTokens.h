// SPDX-License-Identifier: Apache-2.0
// Finds added tokens such as <|im_end|> in text.
#pragma once

#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/TextPieces.h"

#include <array>
#include <unordered_map>

namespace talc::tokenizer {

// Spellings and what they stand for, searched for the longest one at a position.
class TokenSpellings {
public:
  void add(std::string spelling, uint32_t id) { sorted.push_back({std::move(spelling), id}); }
  void finish();
  bool empty() const { return sorted.empty(); }
  // The id of the longest spelling that `text` begins with, or none; `length` receives its bytes.
  uint32_t findLongest(std::string_view text, size_t &length) const;

private:
  struct Entry {
    std::string spelling;
    uint32_t id;
  };
  std::vector<Entry> sorted;
  std::array<size_t, 257> byFirstByte{};  // entries that begin with byte b: [byFirstByte[b], byFirstByte[b + 1])
};

// Leftmost, longest. Without parseSpecial, special tokens are left as text: the switch for text from users.
class AddedTokens {
public:
  // Returns false if a normalizer failed on the spelling of a token.
  bool build(const Section &section, std::string &error);

  // Cut the tokens that are matched before, or after, normalization out of all text pieces.
  void extractRaw(const Section &section, bool parseSpecial, TextPieces &pieces) const;
  void extractNormalized(const Section &section, bool parseSpecial, TextPieces &pieces) const;

  // The spelling that decoders see: the normalized one if that was matched.
  std::string_view decodedText(const Section &section, uint32_t id) const;

private:
  TokenSpellings raw, normalized;
  std::unordered_map<uint32_t, std::string> normalizedTexts;
};

}  // namespace talc::tokenizer
