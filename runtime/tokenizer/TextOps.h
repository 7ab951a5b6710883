// SPDX-License-Identifier: Apache-2.0
// Runs normalizers and pre-tokenizers on pieces of text.
#pragma once

#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/TextLimits.h"
#include "runtime/tokenizer/TextPieces.h"

namespace talc::tokenizer {

// Applies `ops` in order to every piece that is not an added token; pieces that become empty vanish. Returns false if a
// limit was reached, `error` says which.
bool applyTextOps(const Section &section, Array<Op> ops, TextPieces &pieces, TextLimits &limits, std::string &error);

// `text` with every match of `pattern` replaced, appended to `out`. False: a limit was reached.
bool replaceMatches(const Section &section, uint32_t pattern, std::string_view text, std::string_view by,
                    TextLimits &limits, std::string &out);

// Appends the character that stands for `byte` in the byte-level alphabet: printable bytes themselves, the others in
// ascending order U+0100, U+0101, ...
void appendByteCharacter(std::string &out, unsigned char byte);
// The byte that a character of the alphabet stands for, or -1.
int byteOfCharacter(uint32_t codePoint);

}  // namespace talc::tokenizer
