// SPDX-License-Identifier: Apache-2.0
// Escapes what a line of JSON cannot hold as it is.
#include "runtime/program/output/JsonText.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace talc::program {

void appendEscaped(std::string &json, std::string_view text) {
  for (char c : text) {
    char code[8];
    snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned char>(c));
    if (c == '"' || c == '\\')
      json += '\\', json += c;
    else if (c == '\n')
      json += "\\n";
    else if (c == '\t')
      json += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      json += code;
    else
      json += c;
  }
}

void appendString(std::string &json, std::string_view text) {
  json += '"';
  appendEscaped(json, text);
  json += '"';
}

void appendNumber(std::string &json, float value) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  (void)error;  // 32 characters are enough for every float
  json.append(digits, end);
}

void appendNumbers(std::string &json, const float *values, size_t count) {
  json += '[';
  for (size_t i = 0; i < count; ++i) {
    json += i > 0 ? "," : "";
    if (std::isfinite(values[i]))
      appendNumber(json, values[i]);
    else
      json += "null";
  }
  json += ']';
}

}  // namespace talc::program
