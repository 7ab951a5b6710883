// SPDX-License-Identifier: Apache-2.0
// From the texts of tokens to one text.
#pragma once

#include "runtime/tokenizer/DecodeScratch.h"
#include "runtime/tokenizer/Section.h"

namespace talc::tokenizer {

// Runs the section's decoders on scratch.tokens, and concatenates what they leave to `text`, which is none of the
// scratch's strings that the decoders use. The result is UTF-8.
void decodeTokens(const Section &section, DecodeScratch &scratch, std::string &text);

}  // namespace talc::tokenizer
