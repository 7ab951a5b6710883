// SPDX-License-Identifier: Apache-2.0
// Collects the tables of a tokenizer section and lays them out.
#pragma once

#include "frontends/tokenizer/unicode/CharacterSet.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace talc::frontend {

class SectionBuilder {
public:
  tokenizer::Header header{};
  std::vector<tokenizer::Token> tokens, targets;
  std::vector<double> scores;
  std::vector<uint32_t> mergeFirst;
  std::vector<tokenizer::Merge> merges;
  std::vector<tokenizer::CharMapping> mappings;
  std::vector<tokenizer::CharMap> maps;
  std::vector<tokenizer::Text> expansions;
  std::vector<uint32_t> codePoints;
  std::vector<tokenizer::Decomposition> canonical, compatible;
  std::vector<tokenizer::Composition> compositions;
  std::vector<tokenizer::ValueRange> combining, graphemes, scripts;
  std::vector<tokenizer::Op> normalizers, preTokenizers, decoders;
  std::vector<tokenizer::TemplateItem> single, pair;
  std::vector<tokenizer::Language> languages;

  // Equal strings and sets are stored once.
  tokenizer::Text addText(std::string_view text);
  uint32_t addSet(const CharacterSet &set);
  uint32_t addExpansion(std::string_view text);
  // Sorts the mappings.
  uint32_t addMap(std::vector<tokenizer::CharMapping> mappings);
  uint32_t addPattern(const std::vector<tokenizer::Instruction> &code);
  // Returns the root. Of equal keys the largest value counts; keys have at most maxTokenBytes bytes.
  uint32_t addTrie(std::vector<std::pair<std::string, uint32_t>> keys);

  size_t instructionCount() const { return instructions.size(); }

  // The bytes of the section.
  std::vector<uint8_t> finish();

private:
  std::string pool;
  std::unordered_map<std::string, tokenizer::Text> knownTexts;
  std::vector<tokenizer::TrieNode> trie;
  std::vector<tokenizer::Range> ranges;
  std::vector<tokenizer::CharSet> sets;
  std::map<std::vector<uint32_t>, uint32_t> knownSets;
  std::vector<tokenizer::Instruction> instructions;
  std::vector<tokenizer::Pattern> patterns;
};

}  // namespace talc::frontend
