// SPDX-License-Identifier: Apache-2.0
// The tokenizer of an artifact: text to token ids and back.
#pragma once

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/Decoders.h"
#include "runtime/tokenizer/LanguageTable.h"
#include "runtime/tokenizer/Section.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

// Interprets a section of TokenizerFormat.h and gives the same ids as Hugging Face's tokenizer for the tokenizer.json
// that the section was compiled from. All methods are const and may be called from several threads at once.
class Tokenizer {
public:
  // Checks the whole section. The bytes are not copied: they must be aligned to 8 and outlive the tokenizer. On false,
  // `error` is one line.
  static bool open(const unsigned char *bytes, size_t size, std::unique_ptr<Tokenizer> &tokenizer, std::string &error);

  // Appends the ids of `text`. addSpecial: also what the model's post-processor adds (<s>, [CLS], </s>, ...).
  // parseSpecial: special tokens spelled out in the text, such as <|im_end|>, become those tokens; pass false for text
  // from users. Returns false if the text is not UTF-8 or a part of it has no token; `error` is one line, ids are as
  // before. `types`, if not null, receives one token type id (BERT's segment) per id.
  bool encode(std::string_view text, std::vector<int32_t> &ids, std::string &error, bool addSpecial = true,
              bool parseSpecial = true, std::vector<int32_t> *types = nullptr) const;

  // Does the same for a pair of texts.
  bool encodePair(std::string_view first, std::string_view second, std::vector<int32_t> &ids,
                  std::vector<int32_t> &types, std::string &error, bool addSpecial = true,
                  bool parseSpecial = true) const;

  // Does the same for a text or a pair (`second` not null), cut to `maxTokens` ids, those that the post-processor adds
  // included, as Hugging Face's truncation "longest_first" cuts; 0: nothing is cut. `cutsBegin`: texts lose their
  // beginning instead of their end. `language`: the token of the texts' language; -1: the tokenizer's own.
  // Stores how many ids were dropped.
  bool encodeWithin(std::string_view first, const std::string_view *second, size_t maxTokens, bool cutsBegin,
                    int32_t language, std::vector<int32_t> &ids, std::vector<int32_t> &types, size_t &dropped,
                    std::string &error) const;

  // Languages that texts may be in; mostly none.
  const LanguageTable &languages() const { return *languageTable; }

  // The text of `count` ids; always UTF-8. Ids that contains() denies are left out.
  std::string decode(const int32_t *ids, size_t count, bool skipSpecial = true) const;
  // The same, stored in `text`; allocates nothing but what `scratch` and `text` lack.
  void decode(const int32_t *ids, size_t count, bool skipSpecial, DecodeScratch &scratch, std::string &text) const;
  // Stores what one more id, or the end, completes of a text whose ids come one by one. `states` are
  // newDecodeStates() at its beginning.
  void decodeNext(int32_t id, bool skipSpecial, std::vector<DecodeState> &states, DecodeScratch &scratch,
                  std::string &text) const;
  void decodeEnd(tokenizer::After after, std::vector<DecodeState> &states, DecodeScratch &scratch,
                 std::string &text) const;
  std::vector<DecodeState> newDecodeStates() const { return std::vector<DecodeState>(section.decoders.count); }

  // Ids that can be decoded are below this. It is mostly less than the model's padded vocabulary, but may be more.
  int32_t vocabularySize() const { return static_cast<int32_t>(decodable().count); }
  bool contains(int32_t id) const;
  bool isSpecial(int32_t id) const;
  // Ascending.
  std::vector<int32_t> specialTokens() const;
  // The id of the token that is spelled exactly so, for example "[MASK]"; -1 if there is none.
  int32_t findToken(std::string_view spelling) const;
  // The vocabulary's spelling, for example "Ġthe"; empty if there is no such id.
  std::string_view tokenText(int32_t id) const;

private:
  tokenizer::Section section;
  tokenizer::AddedTokens added;
  std::unique_ptr<LanguageTable> languageTable;

  const tokenizer::Array<tokenizer::Token> &decodable() const {
    return section.targets.count > 0 ? section.targets : section.tokens;
  }

  void addTokens(const int32_t *ids, size_t count, bool skipSpecial, DecodeScratch &scratch) const;
  bool encodeText(std::string_view text, bool parseSpecial, std::vector<int32_t> &ids, std::string &error) const;
  bool encodeWord(std::string_view word, std::vector<int32_t> &ids, std::string &error) const;
  // `language`: as in encodeWithin.
  void applyTemplate(tokenizer::Array<tokenizer::TemplateItem> items, bool addSpecial, int32_t language,
                     const std::vector<int32_t> &first, const std::vector<int32_t> &second, std::vector<int32_t> &ids,
                     std::vector<int32_t> *types) const;
};

}  // namespace talc
