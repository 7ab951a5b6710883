// SPDX-License-Identifier: Apache-2.0
// SentencePiece models of Llama, T5, XLM-RoBERTa and mBART, translated by the same rules as Hugging Face's
// tokenizer.json.
#include "frontends/huggingface/tokenizer/LanguageRules.h"
#include "frontends/huggingface/tokenizer/SentencePieceReader.h"
#include "frontends/huggingface/tokenizer/TokenizerClasses.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

namespace talc::frontend {

namespace {

class SentencePieceTranslation {
public:
  explicit SentencePieceTranslation(FileTranslation &translation)
      : translation(translation), settings(translation.settings), errors(translation.errors), draft(translation.draft) {
    for (const char *file : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
      if (translation.directory.contains(file)) {
        std::string bytes = readTokenizerFile(translation.directory, file, errors);
        ok = !errors.failed() && readSentencePieceModel(bytes, model, errors);
        return;
      }
    errors.fail(TokenizerError::Unreadable, "",
                "expected tokenizer.model, spiece.model or sentencepiece.bpe.model beside it");
  }

  void llama();
  void t5();
  void xlmRoberta();
  void languages();
  void camembert();

private:
  FileTranslation &translation;
  const TokenizerSettings &settings;
  CompileErrors &errors;
  TokenizerDraft &draft;
  SentencePieceModel model;
  bool ok = false;
  Json vocabulary = Json::array();  // ["piece", score]; null instead of a score: never found in a text

  void addEntry(const std::string &text, Json score) {
    draft.know(text, static_cast<uint32_t>(vocabulary.size()));
    vocabulary.push_back(Json::array({text, std::move(score)}));
  }

  void addPieces(size_t first) {
    for (size_t i = first; i < model.pieces.size(); ++i) {
      const SentencePiece &piece = model.pieces[i];
      addEntry(piece.text, piece.matchesText() ? Json(piece.score) : Json());
    }
  }

  void setModel(uint32_t unknown) {
    draft.json["model"] = segmentationStage(model, unknown, std::move(vocabulary), errors);
  }

  // The model's own control and user-defined pieces, before those of the settings.
  void addTokens(const std::vector<TokenRole> &roles) {
    for (const SentencePiece &piece : model.pieces)
      if (piece.type == PieceType::Control || piece.type == PieceType::UserDefined)
        draft.addToken({piece.text, {}, piece.type == PieceType::Control});
    translation.addTokens(roles);
  }

  SpacePrefix prefix() const { return {settings.flag("add_prefix_space", true), settings.flag("legacy", true)}; }

  // The common part of XLM-RoBERTa, CamemBERT and mBART. `codes`: tokens before the mask token.
  void finishFairseq(size_t firstPiece, const std::vector<std::string> &codes = {});
};

void SentencePieceTranslation::llama() {
  const TokenRole beginRole{"bos_token", "<s>"}, endRole{"eos_token", "</s>"};
  if (!ok)
    return;
  addPieces(0);
  setModel(model.unknown);
  setLlamaStages(draft.json, prefix());
  addTokens({beginRole, endRole, {"unk_token", "<unk>"}, {"pad_token", nullptr}});
  auto begin = settings.token(beginRole), end = settings.token(endRole);
  auto around = [&](const char *sequence, uint32_t type) {
    Template parts{{sequence, type}};
    if (begin && settings.flag("add_bos_token", true))
      parts.insert(parts.begin(), {begin->content, type});
    if (end && settings.flag("add_eos_token", false))
      parts.push_back({end->content, type});
    return parts;
  };
  Template single = around("$A", 0), pair = single, second = around("$B", 1);
  pair.insert(pair.end(), second.begin(), second.end());
  draft.setTemplates(single, pair);
}

void SentencePieceTranslation::t5() {
  constexpr uint32_t maxExtraIds = 1u << 16;
  uint32_t extraIds = settings.number("extra_ids", 100);
  if (extraIds > maxExtraIds)
    errors.fail(TokenizerError::TooLarge, "extra_ids", "expected at most " + std::to_string(maxExtraIds));
  if (!ok || errors.failed())
    return;
  addPieces(0);
  std::vector<std::string> sentinels;
  for (uint32_t i = extraIds; i-- > 0;)
    sentinels.push_back("<extra_id_" + std::to_string(i) + ">");
  for (const std::string &sentinel : sentinels)
    addEntry(sentinel, nullptr);
  setModel(model.unknown);
  setMetaspaceStages(draft.json, model, prefix());
  addTokens({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  for (const std::string &sentinel : sentinels)
    draft.addToken({sentinel, {}});
  draft.setTemplates({{"$A"}, {"</s>"}}, {{"$A"}, {"</s>"}, {"$B"}, {"</s>"}});
}

// The model's first three pieces make way for four tokens of fairseq, so that an id is the piece's index plus one.
void SentencePieceTranslation::xlmRoberta() {
  constexpr size_t replaced = 3;
  for (const char *special : {"<s>", "<pad>", "</s>", "<unk>"})
    addEntry(special, nullptr);
  if (ok)
    finishFairseq(replaced);
}

// Five tokens come before the model's pieces, of which the unknown one makes way: an id is the piece's index plus four.
void SentencePieceTranslation::camembert() {
  constexpr size_t replaced = 1;
  constexpr double unusedScore = -100;
  for (const char *special : {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"})
    addEntry(special, nullptr);
  addEntry("<unk>NOTUSED", unusedScore);
  if (ok)
    finishFairseq(replaced);
}

// The same with a token for each language. mBART cuts texts at all spaces first.
void SentencePieceTranslation::languages() {
  constexpr size_t replaced = 3;
  const TokenizerClass *known = findTokenizerClass(settings);
  const LanguageRules *rules = known ? findLanguageRules(known->name, settings, errors) : nullptr;
  for (const char *special : {"<s>", "<pad>", "</s>", "<unk>"})
    addEntry(special, nullptr);
  if (!ok || !rules)
    return;
  finishFairseq(replaced, rules->list());
  Json &normalizers = draft.json["normalizer"]["normalizers"];
  normalizers.erase(model.charsmap.empty() ? 0 : 1);  // spaces at the end are pieces
  normalizers.back()["content"] = " ";
  if (rules->standsLast)
    draft.json["pre_tokenizer"] = {{"type", "Sequence"},
                                   {"pretokenizers", Json::array({Json::object({{"type", "WhitespaceSplit"}}),
                                                                  std::move(draft.json["pre_tokenizer"])})}};
  for (const std::string &code : rules->list())
    draft.addToken({code, {}});
}

void SentencePieceTranslation::finishFairseq(size_t firstPiece, const std::vector<std::string> &codes) {
  addPieces(firstPiece);
  for (const std::string &code : codes)
    addEntry(code, nullptr);
  addEntry("<mask>", nullptr);
  setModel(3);
  setMetaspaceStages(draft.json, model, prefix());
  addTokens({{"bos_token", "<s>"},
             {"eos_token", "</s>"},
             {"unk_token", "<unk>"},
             {"sep_token", "</s>"},
             {"pad_token", "<pad>"},
             {"cls_token", "<s>"},
             {"mask_token", "<mask>", true}});
  draft.setTemplates({{"<s>"}, {"$A"}, {"</s>"}}, {{"<s>"}, {"$A"}, {"</s>"}, {"</s>"}, {"$B"}, {"</s>"}});
}

}  // namespace

void translateLlama(FileTranslation &translation) {
  SentencePieceTranslation(translation).llama();
}

void translateT5(FileTranslation &translation) {
  SentencePieceTranslation(translation).t5();
}

void translateCamembert(FileTranslation &translation) {
  SentencePieceTranslation(translation).camembert();
}

void translateLanguages(FileTranslation &translation) {
  SentencePieceTranslation(translation).languages();
}

void translateXlmRoberta(FileTranslation &translation) {
  SentencePieceTranslation(translation).xlmRoberta();
}

}  // namespace talc::frontend
