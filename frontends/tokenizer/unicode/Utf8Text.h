// SPDX-License-Identifier: Apache-2.0
// Between UTF-8 and code points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace talc::frontend {

// Shortest forms of code points up to U+10FFFF that are not surrogates.
bool isUtf8(std::string_view text);
// The others expect valid text.
std::vector<char32_t> decodeUtf8(std::string_view text);
void appendCodePoint(std::string &out, char32_t codePoint);

// For messages: a text of more than `most` bytes becomes its beginning and its end with ... between them.
std::string shortened(std::string_view text, size_t maxBytes);

}  // namespace talc::frontend
