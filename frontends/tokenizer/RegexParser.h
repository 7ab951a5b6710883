// SPDX-License-Identifier: Apache-2.0
// Parses the regular expressions of tokenizer.json files.
#pragma once

#include "frontends/tokenizer/RegexTree.h"
#include "frontends/tokenizer/SectionBuilder.h"
#include "frontends/tokenizer/UnicodeProperties.h"

#include <optional>
#include <string>
#include <string_view>

namespace talc::frontend {

// The subset of Oniguruma's Ruby syntax (doc/RE of Oniguruma) without back references, captures that matter, \G, \K,
// \X, absent operators and recursion. `pattern` must be UTF-8. On failure `error` says what is not supported and at
// which character. The tree is no deeper than 600; its sets go to the section.
std::optional<RegexNode> parseRegex(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section,
                                    std::string &error);

}  // namespace talc::frontend
