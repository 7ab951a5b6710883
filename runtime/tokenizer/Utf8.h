// SPDX-License-Identifier: Apache-2.0
// UTF-8: validation, and decoding and encoding of text that is known to be valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace talc::tokenizer {

constexpr uint32_t replacementCharacter = 0xFFFD;

// Length of the well-formed sequence at the start of text (Unicode, table 3-7), or 0 if there is none.
inline size_t validSequence(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned lead = byte(0), second = byte(1);
  if (text.empty())
    return 0;
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead <= 0xDF)
    return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    bool shortest = lead != 0xE0 || second >= 0xA0;
    bool scalar = lead != 0xED || second <= 0x9F;
    return shortest && scalar && tail(1) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    bool shortest = lead != 0xF0 || second >= 0x90;
    bool inRange = lead != 0xF4 || second <= 0x8F;
    return shortest && inRange && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// Offset of the first byte that is not UTF-8, or npos.
inline size_t findInvalid(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    size_t length = validSequence(text.substr(i));
    if (length == 0)
      return i;
    i += length;
  }
  return std::string_view::npos;
}

// Bytes of the sequence that `lead` begins in valid text.
inline size_t sequenceLength(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// The code point at `position` < text.size() of valid text; moves `position` behind it.
inline uint32_t decodeAt(std::string_view text, size_t &position) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[position + i]); };
  uint32_t lead = byte(0), result = lead;
  size_t length = sequenceLength(text[position]);
  if (length == 2)
    result = (lead & 0x1F) << 6 | (byte(1) & 0x3Fu);
  if (length == 3)
    result = (lead & 0x0F) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  if (length == 4)
    result = (lead & 0x07) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
  position += length;
  return result;
}

// Returns the beginning of the character that ends at `position` > 0 of valid text.
inline size_t previousAt(std::string_view text, size_t position) {
  do
    --position;
  while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80);
  return position;
}

inline void appendUtf8(std::string &out, uint32_t codePoint) {
  auto add = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (codePoint < 0x80) {
    add(codePoint);
  } else if (codePoint < 0x800) {
    add(0xC0 | codePoint >> 6), add(0x80 | (codePoint & 0x3F));
  } else if (codePoint < 0x10000) {
    add(0xE0 | codePoint >> 12), add(0x80 | (codePoint >> 6 & 0x3F)), add(0x80 | (codePoint & 0x3F));
  } else {
    add(0xF0 | codePoint >> 18), add(0x80 | (codePoint >> 12 & 0x3F));
    add(0x80 | (codePoint >> 6 & 0x3F)), add(0x80 | (codePoint & 0x3F));
  }
}

inline size_t countCharacters(std::string_view text) {
  size_t count = 0;
  for (char c : text)
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace talc::tokenizer
