// SPDX-License-Identifier: Apache-2.0
// Translates regular expressions to the instructions of the runtime's matcher.
#pragma once

#include "frontends/tokenizer/SectionBuilder.h"
#include "frontends/tokenizer/UnicodeProperties.h"

#include <optional>
#include <string>
#include <string_view>

namespace talc::frontend {

// The index of the pattern in the section; on failure `error` says what is not supported and where.
std::optional<uint32_t> compileRegex(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section,
                                     std::string &error);

// A pattern that matches exactly `text`; an empty text matches nowhere.
uint32_t compileLiteral(std::string_view text, SectionBuilder &section);
// A pattern that matches one character of the set.
uint32_t compileSet(const CharacterSet &set, SectionBuilder &section);

}  // namespace talc::frontend
