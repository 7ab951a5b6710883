// SPDX-License-Identifier: Apache-2.0
// The table of tokenizers: BPE of bytes, SentencePiece's two kinds, WordPiece.
#include "frontends/gguf/GgufTokenizer.h"

#include "frontends/tokenizer/SplitPatterns.h"
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

#include <algorithm>

namespace talc::frontend {

namespace {

//===--- BPE of bytes -------------------------------------------------------------------------------------------===//

// How texts are cut into words: by patterns, each of which splits what those before it left, then single digits, then
// by GPT-2's pattern.
struct Splits {
  std::vector<const char *> patterns;
  bool digits = false, gpt2 = false;
  bool composes = false;    // texts become NFC first
  bool wholeWords = false;  // words that are tokens need no merges; texts begin with a token
};

Splits gpt2() {
  return {{}, false, true};
}
Splits digits() {
  return {{}, true, true};
}
Splits llama3() {
  return {{llama3Pattern}, false, false, false, true};
}
Splits qwen2() {
  return {{qwen2Pattern}, false, false, true};
}
Splits gpt4o() {
  return {{gpt4oPattern}};
}
Splits deepseek() {
  return {{deepseekNewlines, deepseekLetters, deepseekMarks, deepseekEnd, deepseekScripts}, true};
}
Splits deepseekCoder() {
  return {{deepseekNewlines, deepseekCoderLetters, deepseekCoderMarks, deepseekScripts}, true};
}
Splits deepseekV3() {
  return {{deepseekV3Numbers, deepseekV3Scripts, deepseekV3Words}};
}

// What tokenizer.ggml.pre means: GGUF has a name where tokenizer.json has rules.
struct PreTokenizer {
  const char *name;
  Splits (*splits)();
};

constexpr PreTokenizer preTokenizers[] = {
    {"gpt-2", gpt2},
    {"gpt2", gpt2},
    {"jina-de", gpt2},
    {"jina-en", gpt2},
    {"jina-es", gpt2},
    {"mpt", gpt2},
    {"olmo", gpt2},
    {"phi-2", gpt2},
    {"roberta-bpe", gpt2},
    {"codeshell", digits},
    {"command-r", digits},
    {"refact", digits},
    {"smollm", digits},
    {"starcoder", digits},
    {"llama-bpe", llama3},
    {"llama-v3", llama3},
    {"llama3", llama3},
    {"qwen2", qwen2},
    {"deepseek-r1-qwen", qwen2},
    {"gpt-4o", gpt4o},
    {"deepseek-llm", deepseek},
    {"deepseek-coder", deepseekCoder},
    {"deepseek-v3", deepseekV3},
};

Json byteLevel(bool usesPattern, bool addsSpace) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", addsSpace}, {"use_regex", usesPattern}};
}

Json splitting(const Splits &splits, bool addsSpace) {
  Json stages = Json::array();
  for (const char *pattern : splits.patterns)
    stages.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  if (splits.digits)
    stages.push_back({{"type", "Digits"}, {"individual_digits", true}});
  stages.push_back(byteLevel(splits.gpt2, addsSpace));
  return {{"type", "Sequence"}, {"pretokenizers", std::move(stages)}};
}

// Files of GPT-2 were written before the key was invented.
std::optional<Splits> findSplits(const GgufTokenizer &tokenizer) {
  std::string name = tokenizer.text("pre");
  if (name.empty() && tokenizer.architecture() == "gpt2")
    return gpt2();
  for (const PreTokenizer &known : preTokenizers)
    if (name == known.name)
      return known.splits();
  tokenizer.errors.fail(TokenizerError::Unsupported, "tokenizer.ggml.pre",
                        name.empty() ? "is missing, so that nobody knows how texts are cut into words"
                                     : "'" + name + "' is not known to talc");
  return std::nullopt;
}

void fillByteLevel(GgufTokenizer &tokenizer) {
  TokenizerDraft &draft = tokenizer.draft;
  auto splits = findSplits(tokenizer);
  if (!splits || !tokenizer.readTokens(/*scored=*/false))
    return;
  Json vocabulary = Json::object();
  for (uint32_t id = 0; id < tokenizer.tokens.size(); ++id) {
    vocabulary[tokenizer.tokens[id].text] = id;
    draft.know(tokenizer.tokens[id].text, id);
  }
  draft.json["model"] = {{"type", "BPE"},
                         {"ignore_merges", splits->wholeWords},
                         {"vocab", std::move(vocabulary)},
                         {"merges", tokenizer.merges()}};
  draft.json["pre_tokenizer"] = splitting(*splits, tokenizer.flag("add_space_prefix", false));
  draft.json["decoder"] = {{"type", "ByteLevel"}};
  if (splits->composes)
    draft.json["normalizer"] = {{"type", "NFC"}};
  tokenizer.addSpecialTokens();
  tokenizer.setTemplates({splits->wholeWords, false});
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
  setMetaspaceStages(tokenizer.draft.json, model, {tokenizer.flag("add_space_prefix", true)});
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
  bool lowercase = !keepsCase(tokenizer);
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
                              {"strip_accents", lowercase},
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

constexpr Kind kinds[] = {{"bert", fillWordPiece}, {"gpt2", fillByteLevel}, {"llama", fillLlama}, {"t5", fillT5}};

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
