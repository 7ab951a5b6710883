// SPDX-License-Identifier: Apache-2.0
// SentencePiece's precompiled normalization rules, applied as Hugging Face's tokenizers do or as SentencePiece does.
#pragma once

#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/TextLimits.h"

namespace talc::tokenizer {

// Appends `text` with the rules of the trie at `root`: a grapheme cluster of less than 6 bytes that begins with a rule
// is replaced as a whole, otherwise character by character. False: the text becomes too long.
bool applyCharsmap(const Section &section, uint32_t root, std::string_view text, TextLimits &limits, std::string &out);
// The same in SentencePiece's own way: at every place the longest rule counts.
bool applyLongestRules(const Section &section, uint32_t root, std::string_view text, TextLimits &limits,
                       std::string &out);

}  // namespace talc::tokenizer
