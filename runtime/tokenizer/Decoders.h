// SPDX-License-Identifier: Apache-2.0
// From the texts of tokens to one text.
#pragma once

#include "runtime/tokenizer/Section.h"

#include <vector>

namespace talc::tokenizer {

// Runs the section's decoders and concatenates what they leave. The result is UTF-8.
std::string decodeTokens(const Section &section, std::vector<std::string> tokens);

}  // namespace talc::tokenizer
