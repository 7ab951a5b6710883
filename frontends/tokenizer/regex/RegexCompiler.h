// SPDX-License-Identifier: Apache-2.0
// Regular expressions: their syntax tree, and its translation to instructions of the runtime's matcher.
#pragma once

#include "frontends/tokenizer/SectionBuilder.h"
#include "frontends/tokenizer/unicode/UnicodeProperties.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc::frontend {

// Returns the index of the pattern in the section; on failure `error` says what is not supported and where.
std::optional<uint32_t> compileRegex(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section,
                                     std::string &error);

// Compiles a pattern that matches exactly `text`; an empty text matches nowhere.
uint32_t compileLiteral(std::string_view text, SectionBuilder &section);
// Compiles a pattern that matches one character of the set.
uint32_t compileSet(const CharacterSet &set, SectionBuilder &section);

// ---- The syntax tree

struct RegexNode {
  enum Kind {
    Set,       // one character of the set
    Sequence,  // all children in order; none: matches nothing, successfully
    Choice,    // the first child that leads to a match
    Repeat,    // children[0], minimum to maximum times
    Look,      // children[0] must match here (or not); takes nothing
    Atomic,    // children[0], whose alternatives are forgotten once it matched
    Assertion  // a position
  } kind;
  enum Mode { Greedy, Lazy, Possessive } mode = Greedy;

  uint32_t set = tokenizer::none;  // Set, and assertions about words: in the section
  std::vector<RegexNode> children;
  uint32_t minimum = 0, maximum = 0;  // Repeat; tokenizer::unlimited
  tokenizer::Match match{};           // Look and Assertion: the instruction

  explicit RegexNode(Kind kind) : kind(kind) {}
};

// Parses a regular expression of a tokenizer.json (RegexParser.cpp): the subset of Oniguruma's Ruby syntax (doc/RE of
// Oniguruma) without back references, captures that matter, \G, \K, \X, absent operators and recursion. `pattern` must
// be UTF-8. On failure `error` says what is not supported and at which character. The depth of the tree is at most 600;
// its sets go to the section.
std::optional<RegexNode> parseRegex(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section,
                                    std::string &error);

}  // namespace talc::frontend
