// SPDX-License-Identifier: Apache-2.0
// Reads base64 (RFC 4648).
#include "frontends/tokenizer/Base64.h"

#include <cstdint>

namespace talc::frontend {

bool decodeBase64(const std::string &text, std::string &bytes) {
  uint32_t buffer = 0;
  int bits = 0;
  for (char c : text) {
    int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                : c == '/'             ? 63
                                       : -1;
    if (c == '=')
      break;
    if (value < 0)
      return false;
    buffer = buffer << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits < 8)
      continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(buffer >> bits & 0xFF));
  }
  return true;
}

}  // namespace talc::frontend
