// SPDX-License-Identifier: Apache-2.0
// The stages of a tokenizer, one after the other.
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Decoders.h"
#include "runtime/tokenizer/Models.h"
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

namespace talc {

using namespace tokenizer;

namespace {
constexpr size_t maxTextSize = size_t(1) << 30;
}

bool Tokenizer::open(const unsigned char *bytes, size_t size, std::unique_ptr<Tokenizer> &tokenizer,
                     std::string &error) {
  auto opened = std::make_unique<Tokenizer>();
  if (!opened->section.open(bytes, size, error) || !opened->added.build(opened->section, error))
    return false;
  opened->languageTable = std::make_unique<LanguageTable>(opened->section);
  tokenizer = std::move(opened);
  return true;
}

bool Tokenizer::encode(std::string_view text, std::vector<int32_t> &ids, std::string &error, bool addSpecial,
                       bool parseSpecial, std::vector<int32_t> *types) const {
  std::vector<int32_t> first;
  if (!encodeText(text, parseSpecial, first, error))
    return false;
  applyTemplate(section.single, addSpecial, -1, first, {}, ids, types);
  return true;
}

bool Tokenizer::encodePair(std::string_view first, std::string_view second, std::vector<int32_t> &ids,
                           std::vector<int32_t> &types, std::string &error, bool addSpecial, bool parseSpecial) const {
  std::vector<int32_t> firstIds, secondIds;
  if (!encodeText(first, parseSpecial, firstIds, error) || !encodeText(second, parseSpecial, secondIds, error))
    return false;
  applyTemplate(section.pair, addSpecial, -1, firstIds, secondIds, ids, &types);
  return true;
}

bool Tokenizer::encodeText(std::string_view text, bool parseSpecial, std::vector<int32_t> &ids,
                           std::string &error) const {
  if (text.size() > maxTextSize) {
    error = "error[T0325]: text: " + std::to_string(text.size()) + " bytes are more than 1 GiB; split the text";
    return false;
  }
  if (size_t at = findInvalid(text); at != std::string_view::npos) {
    error = "error[T0322]: text: byte " + std::to_string(at) + " is not UTF-8; convert the text to UTF-8";
    return false;
  }
  TextPieces pieces{std::string(text), {}};
  if (!text.empty())
    pieces.list.push_back({0, text.size(), none, true});
  added.extractRaw(section, parseSpecial, pieces);
  TextLimits limits = TextLimits::of(text.size());
  if (!applyTextOps(section, section.normalizers, pieces, limits, error))
    return false;
  added.extractNormalized(section, parseSpecial, pieces);
  if (!applyTextOps(section, section.preTokenizers, pieces, limits, error))
    return false;
  for (const Piece &piece : pieces.list) {
    if (piece.id != none)
      ids.push_back(static_cast<int32_t>(piece.id));
    else if (!encodeWord(pieces.text(piece), ids, error))
      return false;
  }
  return true;
}

bool Tokenizer::encodeWord(std::string_view word, std::vector<int32_t> &ids, std::string &error) const {
  bool isKnown = false;
  switch (static_cast<ModelKind>(section.header->model.kind)) {
  case ModelKind::Bpe:
    isKnown = encodeBpe(section, word, ids);
    break;
  case ModelKind::WordPiece:
    isKnown = encodeWordPiece(section, word, ids);
    break;
  case ModelKind::Unigram:
    isKnown = encodeUnigram(section, word, ids);
    break;
  case ModelKind::WordLevel:
    isKnown = encodeWordLevel(section, word, ids);
    break;
  }
  if (isKnown)
    return true;
  size_t shown = 0;
  while (shown < word.size() && shown < 32)
    shown += sequenceLength(word[shown]);
  error = "error[T0324]: text: no token stands for '" + std::string(word.substr(0, shown)) +
          "' and the tokenizer has no unknown token";
  return false;
}

void Tokenizer::applyTemplate(Array<TemplateItem> items, bool addSpecial, int32_t language,
                              const std::vector<int32_t> &first, const std::vector<int32_t> &second,
                              std::vector<int32_t> &ids, std::vector<int32_t> *types) const {
  for (const TemplateItem &item : items) {
    size_t before = ids.size();
    switch (static_cast<ItemKind>(item.kind)) {
    case ItemKind::Token:
      if (addSpecial)
        ids.push_back(static_cast<int32_t>(item.value));
      break;
    case ItemKind::Language:
      if (addSpecial)
        ids.push_back(language < 0 ? static_cast<int32_t>(item.value) : language);
      break;
    case ItemKind::SequenceA:
      ids.insert(ids.end(), first.begin(), first.end());
      break;
    case ItemKind::SequenceB:
      ids.insert(ids.end(), second.begin(), second.end());
      break;
    }
    if (types)
      types->insert(types->end(), ids.size() - before, static_cast<int32_t>(item.type));
  }
}

std::string Tokenizer::decode(const int32_t *ids, size_t count, bool skipSpecial) const {
  DecodeScratch scratch;
  std::string text;
  decode(ids, count, skipSpecial, scratch, text);
  return text;
}

void Tokenizer::addTokens(const int32_t *ids, size_t count, bool skipSpecial, DecodeScratch &scratch) const {
  scratch.tokens.clear();
  for (size_t i = 0; i < count; ++i)
    if (contains(ids[i]) && !(skipSpecial && isSpecial(ids[i])))
      scratch.tokens.add() = section.targets.count > 0 ? tokenText(ids[i]) : added.decodedText(section, ids[i]);
}

void Tokenizer::decode(const int32_t *ids, size_t count, bool skipSpecial, DecodeScratch &scratch,
                       std::string &text) const {
  addTokens(ids, count, skipSpecial, scratch);
  scratch.states.assign(section.decoders.count, {});
  decodeTokens(section, scratch.states, After::Nothing, scratch, text);
}

void Tokenizer::decodeNext(int32_t id, bool skipSpecial, std::vector<DecodeState> &states, DecodeScratch &scratch,
                           std::string &text) const {
  addTokens(&id, 1, skipSpecial, scratch);
  decodeTokens(section, states, After::Tokens, scratch, text);
}

void Tokenizer::decodeEnd(After after, std::vector<DecodeState> &states, DecodeScratch &scratch,
                          std::string &text) const {
  scratch.tokens.clear();
  decodeTokens(section, states, after, scratch, text);
}

bool Tokenizer::contains(int32_t id) const {
  return id >= 0 && id < vocabularySize() && decodable()[id].flags & tokenPresent;
}

bool Tokenizer::isSpecial(int32_t id) const {
  return contains(id) && decodable()[id].flags & tokenSpecial;
}

std::vector<int32_t> Tokenizer::specialTokens() const {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < vocabularySize(); ++id)
    if (isSpecial(id))
      ids.push_back(id);
  return ids;
}

int32_t Tokenizer::findToken(std::string_view spelling) const {
  for (int32_t id = 0; id < vocabularySize(); ++id)
    if (contains(id) && tokenText(id) == spelling)
      return id;
  return -1;
}

std::string_view Tokenizer::tokenText(int32_t id) const {
  return contains(id) ? section.text(decodable()[id].text) : std::string_view();
}

}  // namespace talc
