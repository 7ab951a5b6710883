// SPDX-License-Identifier: Apache-2.0
// Turns the texts of tokens into one text.
#pragma once

#include "runtime/tokenizer/DecodeScratch.h"
#include "runtime/tokenizer/Section.h"

namespace talc::tokenizer {

// Runs the section's decoders on scratch.tokens, and appends their result to `text`, which must not be a string of the
// scratch that decoders use. The result is UTF-8.
void decodeTokens(const Section &section, DecodeScratch &scratch, std::string &text);

}  // namespace talc::tokenizer
