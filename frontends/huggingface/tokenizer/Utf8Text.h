// SPDX-License-Identifier: Apache-2.0
// Between UTF-8 and code points, for text that is known to be valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace talc::huggingface {

std::vector<char32_t> decodeUtf8(std::string_view text);
void appendCodePoint(std::string &out, char32_t codePoint);

}  // namespace talc::huggingface
