// SPDX-License-Identifier: Apache-2.0
// Normalizers and pre-tokenizers: operations that rewrite or split pieces of text.
#pragma once

#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/TextPieces.h"

namespace talc::tokenizer {

// Applies `ops` in order to every piece that is not an added token; pieces that become empty vanish. Returns false if a
// limit was reached, `error` says which.
bool applyTextOps(const Section &section, Array<Op> ops, TextPieces &pieces, TextLimits &limits, std::string &error);

// Applies a Split, SplitLength or SplitScripts to every piece that is not an added token. Returns false if the pattern
// ran out of steps.
bool splitAll(const Section &section, const Op &op, TextPieces &pieces, TextLimits &limits);

// Appends `text` to `out` with every match of `pattern` replaced. Returns false if a limit was reached.
bool replaceMatches(const Section &section, uint32_t pattern, std::string_view text, std::string_view by,
                    TextLimits &limits, std::string &out);

// Appends the character that stands for `byte` in the byte-level alphabet: printable bytes themselves, the others in
// ascending order U+0100, U+0101, ...
void appendByteCharacter(std::string &out, unsigned char byte);
// The byte that a character of the alphabet stands for, or -1.
int byteOfCharacter(uint32_t codePoint);

// ---- Rewriting text, with the tables of a section

// Appends `text`, which is UTF-8, in a Unicode normal form (UAX #15).
void appendNormalized(const Section &section, NormalForm form, std::string_view text, std::string &out);

// Returns the end of the extended grapheme cluster (UAX #29) that begins at `begin` < text.size().
size_t clusterEnd(const Section &section, std::string_view text, size_t begin);

// Appends `text`, rewritten by SentencePiece's precompiled rules in the trie at `root`, as Hugging Face's tokenizers
// do: a grapheme cluster of less than 6 bytes that begins with a rule is replaced as a whole, others character by
// character. Returns false if the text becomes too long.
bool applyCharsmap(const Section &section, uint32_t root, std::string_view text, TextLimits &limits, std::string &out);
// Does the same in SentencePiece's own way: the longest rule counts at every position.
bool applyLongestRules(const Section &section, uint32_t root, std::string_view text, TextLimits &limits,
                       std::string &out);

}  // namespace talc::tokenizer
