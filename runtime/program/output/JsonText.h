// SPDX-License-Identifier: Apache-2.0
// Writes results as JSON (RFC 8259), one object per line.
#pragma once

#include <string>
#include <string_view>

namespace talc::program {

// Appends the characters of a string, without its quotes. `text` is UTF-8.
void appendEscaped(std::string &json, std::string_view text);
// Appends "text" with its quotes.
void appendString(std::string &json, std::string_view text);
// Appends the shortest text that reads back as the same float.
void appendNumber(std::string &json, float value);
// [1,2,3]; null where JSON has no number.
void appendNumbers(std::string &json, const float *values, size_t count);

}  // namespace talc::program
