// SPDX-License-Identifier: Apache-2.0
// Marian: source.spm cuts texts as SentencePiece itself does, vocab.json gives the ids of source and target, or
// target_vocab.json those of the target.
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
void setModel(FileTranslation &translation, const SentencePieceModel &model) {
  std::vector<std::string> tokens = readVocabulary(translation, "vocab.json");
  for (size_t id = 0; id < tokens.size(); ++id)
    translation.draft.know(tokens[id], static_cast<uint32_t>(id));
  auto scores = scoresByPiece(model);
  Json vocabulary = Json::array(), segments = Json::array();
  for (const std::string &token : tokens) {
    auto score = scores.find(token);
    vocabulary.push_back(Json::array({token, score == scores.end() ? Json() : Json(score->second)}));
  }
  for (const SentencePiece &piece : model.pieces)
    if (piece.matchesText() && !translation.draft.findId(piece.text))
      segments.push_back(Json::array({piece.text, scores[piece.text]}));
  auto unknown = translation.settings.token(unknownRole);
  auto id = unknown ? translation.draft.findId(unknown->content) : std::nullopt;
  if (!id)
    translation.errors.fail(TokenizerError::Vocabulary, "", "has no unknown token");
  translation.draft.json["model"] = {{"type", "Unigram"},
                                     {"unk_id", id.value_or(0)},
                                     {"vocab", std::move(vocabulary)},
                                     {"segments", std::move(segments)}};
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

}  // namespace talc::frontend
