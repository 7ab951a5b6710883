// SPDX-License-Identifier: Apache-2.0
// The table of tokenizers: BPE, SentencePiece's two kinds, WordPiece.
#include "frontends/gguf/GgufPreTokenizers.h"
#include "frontends/gguf/GgufTokenizer.h"
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

#include <algorithm>

namespace talc::frontend {

namespace {

//===--- BPE ------------------------------------------------------------------------------------------------------===//

Json splitting(const Splits &splits) {
  Json stages = Json::array();
  for (const char *pattern : splits.patterns)
    stages.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  if (splits.digits)
    stages.push_back({{"type", "Digits"}, {"individual_digits", true}});
  return stages;
}

Json sequence(Json stages) {
  return {{"type", "Sequence"}, {"pretokenizers", std::move(stages)}};
}

void refusePreTokenizer(const GgufTokenizer &tokenizer, const std::string &name) {
  tokenizer.errors.fail(TokenizerError::Unsupported, "tokenizer.ggml.pre",
                        (name.empty() ? "is missing, so that nobody knows how texts are cut into words"
                                      : "'" + name + "' is not known to talc") +
                            useOtherTokenizer);
}

// Files of GPT-2 were written before the key was invented.
const PreTokenizer *readPreTokenizer(const GgufTokenizer &tokenizer) {
  std::string name = tokenizer.text("pre");
  const PreTokenizer *known = findPreTokenizer(name.empty() && tokenizer.architecture() == "gpt2" ? "gpt-2" : name);
  if (!known)
    refusePreTokenizer(tokenizer, name);
  return known;
}

// Reads the vocabulary and the merges; returns false after an error.
bool setMerges(GgufTokenizer &tokenizer, const PreTokenizer &words) {
  if (!tokenizer.readTokens(/*scored=*/false))
    return false;
  Json vocabulary = Json::object();
  for (uint32_t id = 0; id < tokenizer.tokens.size(); ++id) {
    vocabulary[tokenizer.tokens[id].text] = id;
    tokenizer.draft.know(tokenizer.tokens[id].text, id);
  }
  tokenizer.draft.json["model"] = {{"type", "BPE"},
                                   {"ignore_merges", words.wholeWords},
                                   {"byte_fallback", words.isText},
                                   {"vocab", std::move(vocabulary)},
                                   {"merges", tokenizer.merges()}};
  tokenizer.addSpecialTokens();
  tokenizer.setTemplates({words.begins, false});
  return !tokenizer.errors.failed();
}

void setByteStages(GgufTokenizer &tokenizer, const PreTokenizer &words) {
  Json stages = splitting(words.splits);
  stages.push_back({{"type", "ByteLevel"},
                    {"add_prefix_space", tokenizer.flag("add_space_prefix", false)},
                    {"use_regex", words.splits.gpt2}});
  tokenizer.draft.json["pre_tokenizer"] = sequence(std::move(stages));
  tokenizer.draft.json["decoder"] = {{"type", "ByteLevel"}};
  if (words.composes)
    tokenizer.draft.json["normalizer"] = {{"type", "NFC"}};
}

void setTextStages(GgufTokenizer &tokenizer, const PreTokenizer &words) {
  setLlamaStages(tokenizer.draft.json, {tokenizer.flag("add_space_prefix", false)});
  tokenizer.draft.json["pre_tokenizer"] = sequence(splitting(words.splits));
}

void fillBpe(GgufTokenizer &tokenizer, const PreTokenizer *words) {
  if (!words || !setMerges(tokenizer, *words))
    return;
  (words->isText ? setTextStages : setByteStages)(tokenizer, *words);
}

void fillNamedBpe(GgufTokenizer &tokenizer) {
  fillBpe(tokenizer, readPreTokenizer(tokenizer));
}

// Files of Gemma 4 say nothing of how texts are cut.
void fillGemma4(GgufTokenizer &tokenizer) {
  fillBpe(tokenizer, findPreTokenizer("gemma4"));
}

//===--- SentencePiece ------------------------------------------------------------------------------------------===//

// Reads the pieces with their scores and types; returns false after an error.
bool readModel(GgufTokenizer &tokenizer, SegmentationKind kind, SentencePieceModel &model) {
  if (!tokenizer.readTokens(/*scored=*/true))
    return false;
  model.pieces = tokenizer.tokens;
  model.kind = kind;
  auto ofType = [&](PieceType type) {
    return std::find_if(model.pieces.begin(), model.pieces.end(), [&](auto &piece) { return piece.type == type; });
  };
  model.byteFallback = ofType(PieceType::Byte) != model.pieces.end();
  model.charsmap = tokenizer.bytes("precompiled_charsmap");
  auto typed = ofType(PieceType::Unknown);
  auto unknown = tokenizer.id("unknown");
  if (!unknown && typed != model.pieces.end())
    unknown = static_cast<uint32_t>(typed - model.pieces.begin());
  if (!unknown)
    tokenizer.errors.fail(TokenizerError::Vocabulary, "tokenizer.ggml.tokens", "has no unknown token");
  model.unknown = unknown.value_or(0);
  return !tokenizer.errors.failed();
}

void setSegmentation(GgufTokenizer &tokenizer, const SentencePieceModel &model) {
  Json vocabulary = Json::array();
  for (const SentencePiece &piece : model.pieces) {
    tokenizer.draft.know(piece.text, static_cast<uint32_t>(vocabulary.size()));
    vocabulary.push_back(Json::array({piece.text, piece.matchesText() ? Json(piece.score) : Json()}));
  }
  tokenizer.draft.json["model"] = segmentationStage(model, model.unknown, std::move(vocabulary), tokenizer.errors);
  tokenizer.addSpecialTokens();
}

void fillLlama(GgufTokenizer &tokenizer) {
  SentencePieceModel model;
  if (!readModel(tokenizer, SegmentationKind::Bpe, model))
    return;
  setLlamaStages(tokenizer.draft.json, {tokenizer.flag("add_space_prefix", true)});
  setSegmentation(tokenizer, model);
  tokenizer.setTemplates({true, false});
}

void fillT5(GgufTokenizer &tokenizer) {
  SentencePieceModel model;
  if (!readModel(tokenizer, SegmentationKind::Unigram, model))
    return;
  setMetaspaceStages(tokenizer.draft.json, model, {tokenizer.flag("add_space_prefix", true)},
                     !tokenizer.flag("remove_extra_whitespaces", true));
  setSegmentation(tokenizer, model);
  tokenizer.setTemplates({false, true});
}

//===--- WordPiece ----------------------------------------------------------------------------------------------===//

// GGUF marks the beginnings of words, where vocab.txt marks what continues them.
std::string wordPiece(const SentencePiece &token) {
  const std::string mark = "\u2581";
  if (token.type == PieceType::Control || token.type == PieceType::Unknown)
    return token.text;
  return token.text.compare(0, mark.size(), mark) == 0 ? token.text.substr(mark.size()) : "##" + token.text;
}

// A vocabulary with capital letters was made of texts that kept them; no key says so.
bool keepsCase(const GgufTokenizer &tokenizer) {
  return std::any_of(tokenizer.tokens.begin(), tokenizer.tokens.end(), [](const SentencePiece &token) {
    return token.type == PieceType::Normal && token.text.find('[') == std::string::npos &&
           std::any_of(token.text.begin(), token.text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  });
}

void fillWordPiece(GgufTokenizer &tokenizer) {
  if (!tokenizer.readTokens(/*scored=*/false))
    return;
  bool lowercase = tokenizer.flag("normalizer.lowercase", !keepsCase(tokenizer));
  for (SentencePiece &token : tokenizer.tokens)
    token.text = wordPiece(token);
  TokenizerDraft &draft = tokenizer.draft;
  Json vocabulary = Json::object();
  for (uint32_t id = 0; id < tokenizer.tokens.size(); ++id) {
    vocabulary[tokenizer.tokens[id].text] = id;
    draft.know(tokenizer.tokens[id].text, id);
  }
  draft.json["normalizer"] = {{"type", "BertNormalizer"},
                              {"clean_text", true},
                              {"handle_chinese_chars", true},
                              {"strip_accents", tokenizer.flag("normalizer.strip_accents", lowercase)},
                              {"lowercase", lowercase}};
  draft.json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  draft.json["model"] = {{"type", "WordPiece"},
                         {"unk_token", tokenizer.token("unknown").value_or("[UNK]")},
                         {"continuing_subword_prefix", "##"},
                         {"max_input_chars_per_word", 100u},
                         {"vocab", std::move(vocabulary)}};
  draft.json["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  tokenizer.addSpecialTokens();
  auto begin = tokenizer.token("cls"), end = tokenizer.token("seperator");  // spelled so in GGUF
  std::string first = begin ? *begin : tokenizer.token("bos").value_or("[CLS]"), last = end.value_or("[SEP]");
  draft.setTemplates({{first}, {"$A"}, {last}}, {{first}, {"$A"}, {last}, {"$B", 1}, {last, 1}});
}

struct Kind {
  const char *name;
  TokenizerKind fill;
};

constexpr Kind kinds[] = {
    {"bert", fillWordPiece}, {"gemma4", fillGemma4}, {"gpt2", fillNamedBpe}, {"llama", fillLlama}, {"t5", fillT5}};

}  // namespace

TokenizerKind tokenizerKind(const std::string &name) {
  for (const Kind &kind : kinds)
    if (name == kind.name)
      return kind.fill;
  return nullptr;
}

std::string tokenizerKinds() {
  std::string names;
  for (const Kind &kind : kinds)
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

}  // namespace talc::frontend
