// SPDX-License-Identifier: Apache-2.0
// Marian: source.spm cuts texts as SentencePiece itself does, vocab.json gives the ids of source and target, or
// target_vocab.json those of the target. M2M-100: sentencepiece.bpe.model and vocab.json, then tokens for languages.
#include "frontends/huggingface/tokenizer/LanguageRules.h"
#include "frontends/huggingface/tokenizer/SentencePieceReader.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include <algorithm>

namespace talc::frontend {

namespace {

constexpr const char *space = "\u2581";  // what stands for a space in pieces
const TokenRole endRole{"eos_token", "</s>"}, unknownRole{"unk_token", "<unk>"}, padRole{"pad_token", "<pad>"};
const TokenRole *const roles[] = {&endRole, &unknownRole, &padRole};

// The tokens of a file, in the order of their ids.
std::vector<std::string> readVocabulary(FileTranslation &translation, const char *file) {
  CompileErrors &errors = translation.errors;
  Json vocabulary = readTokenizerObject(translation.directory, file, errors);
  std::vector<std::string> tokens(vocabulary.size());
  for (auto &[token, value] : vocabulary.items()) {
    auto id = readTokenId(value, token, errors);
    if (!id)
      break;
    if (token.empty() || *id >= tokens.size() || !tokens[*id].empty()) {
      errors.fail(TokenizerError::Vocabulary, "",
                  "id " + std::to_string(*id) + " of '" + token +
                      "' occurs twice or "
                      "leaves a gap");
      break;
    }
    tokens[*id] = token;
  }
  return tokens;
}

// A user-defined piece counts more than what it consists of.
std::unordered_map<std::string, double> scoresByPiece(const SentencePieceModel &model) {
  float highest = 0;
  bool first = true;
  for (const SentencePiece &piece : model.pieces)
    if (piece.type == PieceType::Normal)
      highest = first ? piece.score : std::max(highest, piece.score), first = false;
  std::unordered_map<std::string, double> scores;
  for (const SentencePiece &piece : model.pieces)
    if (piece.matchesText())
      scores[piece.text] =
          piece.type == PieceType::Normal ? double(piece.score) : double(piece.text.size()) * highest - 0.1;
  return scores;
}

// Text pieces that vocab.json lacks take part in segmentation and become the unknown token.
template <typename Each>
void forEachMissing(const FileTranslation &translation, const SentencePieceModel &model, Each each) {
  for (const SentencePiece &piece : model.pieces)
    if (piece.matchesText() && !translation.draft.findId(piece.text))
      each(piece);
}

Json makeUnigram(const FileTranslation &translation, const SentencePieceModel &model,
                 const std::vector<std::string> &tokens, uint32_t unknown) {
  auto scores = scoresByPiece(model);
  Json vocabulary = Json::array(), segments = Json::array();
  for (const std::string &token : tokens) {
    auto score = scores.find(token);
    vocabulary.push_back(Json::array({token, score == scores.end() ? Json() : Json(score->second)}));
  }
  forEachMissing(translation, model, [&](const SentencePiece &piece) {
    segments.push_back(Json::array({piece.text, scores[piece.text]}));
  });
  return {
      {"type", "Unigram"}, {"unk_id", unknown}, {"vocab", std::move(vocabulary)}, {"segments", std::move(segments)}};
}

Json makeBpe(const FileTranslation &translation, const SentencePieceModel &model,
             const std::vector<std::string> &tokens, uint32_t unknown) {
  Json vocabulary = Json::object(), segments = Json::array();
  for (uint32_t id = 0; id < tokens.size(); ++id)
    vocabulary[tokens[id]] = id;
  forEachMissing(translation, model, [&](const SentencePiece &piece) { segments.push_back(piece.text); });
  return {{"type", "BPE"},
          {"unk_token", tokens[unknown]},
          {"fuse_unk", true},
          {"vocab", std::move(vocabulary)},
          {"segments", std::move(segments)},
          {"merges", listMerges(model, translation.errors)}};
}

// `others`: tokens behind those of vocab.json.
void setModel(FileTranslation &translation, const SentencePieceModel &model,
              const std::vector<std::string> &others = {}) {
  std::vector<std::string> tokens = readVocabulary(translation, "vocab.json");
  tokens.insert(tokens.end(), others.begin(), others.end());
  for (size_t id = 0; id < tokens.size(); ++id)
    translation.draft.know(tokens[id], static_cast<uint32_t>(id));
  auto unknown = translation.settings.token(unknownRole);
  auto id = unknown ? translation.draft.findId(unknown->content) : std::nullopt;
  if (!id)
    return translation.errors.fail(TokenizerError::Vocabulary, "", "has no unknown token");
  auto make = model.kind == SegmentationKind::Bpe ? makeBpe : makeUnigram;
  translation.draft.json["model"] = make(translation, model, tokens, *id);
}

// SentencePiece's own order: rules, spaces, dummy prefix, what stands for spaces.
Json makeNormalizer(const SentencePieceModel &model) {
  Json rules = Json::array();
  auto replace = [&](const char *kind, const char *pattern, const char *content) {
    rules.push_back(
        Json::object({{"type", "Replace"}, {"pattern", Json::object({{kind, pattern}})}, {"content", content}}));
  };
  if (!model.charsmap.empty())
    rules.push_back(
        Json::object({{"type", "Precompiled"},
                      {"precompiled_charsmap", Json::binary({model.charsmap.begin(), model.charsmap.end()})},
                      {"longest_match", true}}));
  if (model.removeExtraWhitespaces) {
    replace("Regex", "\\A +", "");
    replace("Regex", " {2,}", " ");
  }
  if (model.addDummyPrefix)
    rules.push_back(Json::object({{"type", "Prepend"}, {"prepend", " "}}));
  replace("String", " ", space);
  if (model.removeExtraWhitespaces)
    replace("Regex", "(?<!\u2581)\u2581+\\z", "");
  return Json::object({{"type", "Sequence"}, {"normalizers", std::move(rules)}});
}

// Text pieces joined, without whitespace at the ends.
Json makeDecoder() {
  auto replace = [](const char *kind, const char *pattern, const char *content) {
    return Json::object({{"type", "Replace"}, {"pattern", Json::object({{kind, pattern}})}, {"content", content}});
  };
  return {{"type", "Sequence"},
          {"decoders", Json::array({replace("String", space, " "), Json::object({{"type", "Fuse"}}),
                                    replace("Regex", "\\A\\s+|(?<!\\s)\\s+\\z", "")})}};
}

// >>fra<< before a text says which language to translate to.
bool isLanguageCode(const std::string &token) {
  return token.size() > 4 && token.compare(0, 2, ">>") == 0 && token.compare(token.size() - 2, 2, "<<") == 0;
}

// target_vocab.json gives the ids of the target.
void setTargets(FileTranslation &translation) {
  auto isRole = [&](const std::string &content) {
    return std::any_of(std::begin(roles), std::end(roles), [&](const TokenRole *role) {
      auto token = translation.settings.token(*role);
      return token && token->content == content;
    });
  };
  Json targets = Json::array();
  for (const std::string &content : readVocabulary(translation, "target_vocab.json"))
    targets.push_back(Json::object({{"content", content}, {"special", isRole(content)}}));
  translation.draft.json["targets"] = std::move(targets);
}

bool readModel(FileTranslation &translation, const char *file, SentencePieceModel &model) {
  std::string bytes = readTokenizerFile(translation.directory, file, translation.errors);
  return !translation.errors.failed() && readSentencePieceModel(bytes, model, translation.errors);
}

}  // namespace

void translateMarian(FileTranslation &translation) {
  CompileErrors &errors = translation.errors;
  TokenizerDraft &draft = translation.draft;
  SentencePieceModel source, target;
  if (translation.directory.contains("target.spm") && !readModel(translation, "target.spm", target))
    return;
  if (!readModel(translation, "source.spm", source))
    return;
  if (source.kind != SegmentationKind::Unigram || source.byteFallback)
    return errors.fail(TokenizerError::Unsupported, "", "expected a unigram model without byte_fallback");
  setModel(translation, source);
  if (errors.failed())
    return;
  draft.json["normalizer"] = makeNormalizer(source);
  draft.json["decoder"] = makeDecoder();
  for (const TokenRole *role : roles)
    if (auto token = translation.settings.token(*role); token && draft.findId(token->content))
      draft.addToken(*token);
  for (const Json &entry : draft.json["model"]["vocab"])
    if (const auto &token = entry[0].get_ref<const std::string &>(); isLanguageCode(token))
      draft.addToken({token, {}, false});
  if (translation.settings.flag("separate_vocabs", false))
    setTargets(translation);
  auto end = translation.settings.token(endRole);
  if (end && !errors.failed())
    draft.setTemplates({{"$A"}, {end->content}}, {{"$A"}, {"$B", 1}, {end->content, 1}});
}

void translateM2m100(FileTranslation &translation) {
  const LanguageRules *rules = findLanguageRules("M2M100Tokenizer", translation.settings, translation.errors);
  SentencePieceModel model;
  if (!rules || !readModel(translation, "sentencepiece.bpe.model", model))
    return;
  if (model.byteFallback)
    return translation.errors.fail(TokenizerError::Unsupported, "", "expected a model without byte_fallback");
  std::vector<std::string> languages;
  for (const std::string &code : rules->list())
    languages.push_back(rules->spell(code));
  setModel(translation, model, languages);
  if (translation.errors.failed())
    return;
  translation.draft.json["normalizer"] = makeNormalizer(model);
  translation.draft.json["decoder"] = makeDecoder();
  translation.addTokens({{"bos_token", "<s>"}, endRole, unknownRole, {"sep_token", "</s>"}, padRole});
  for (AddedToken token : translation.settings.extraTokens())
    if (translation.draft.findId(token.content))
      translation.draft.addToken(token);
}

}  // namespace talc::frontend
