// SPDX-License-Identifier: Apache-2.0
// UTF-8 by way of utf8proc.
#include "frontends/tokenizer/unicode/Utf8Text.h"

#include <utf8proc.h>

namespace talc::frontend {

bool isUtf8(std::string_view text) {
  auto *bytes = reinterpret_cast<const utf8proc_uint8_t *>(text.data());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t codePoint = 0;
    auto length = utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(text.size() - i), &codePoint);
    if (length <= 0)
      return false;
    i += static_cast<size_t>(length);
  }
  return true;
}

std::vector<char32_t> decodeUtf8(std::string_view text) {
  std::vector<char32_t> out;
  auto *bytes = reinterpret_cast<const utf8proc_uint8_t *>(text.data());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t codePoint = 0;
    auto length = utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(text.size() - i), &codePoint);
    if (length <= 0)
      break;
    out.push_back(static_cast<char32_t>(codePoint));
    i += static_cast<size_t>(length);
  }
  return out;
}

void appendCodePoint(std::string &out, char32_t codePoint) {
  utf8proc_uint8_t bytes[4];
  auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(codePoint), bytes);
  out.append(reinterpret_cast<char *>(bytes), static_cast<size_t>(length));
}

std::string shortened(std::string_view text, size_t maxBytes) {
  if (text.size() <= maxBytes)
    return std::string(text);
  auto continues = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t end = maxBytes * 2 / 3, begin = text.size() - maxBytes / 3;
  while (end > 0 && continues(end))
    --end;
  while (begin < text.size() && continues(begin))
    ++begin;
  return std::string(text.substr(0, end)) + "..." + std::string(text.substr(begin));
}

}  // namespace talc::frontend
