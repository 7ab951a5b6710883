// SPDX-License-Identifier: Apache-2.0
// vocab.json and merges.txt of byte-level BPE: GPT-2, RoBERTa, Qwen.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/SplitPatterns.h"

namespace talc::frontend {

namespace {

const TokenRole robertaBegin{"cls_token", "<s>"}, robertaEnd{"sep_token", "</s>"};

Json readVocabulary(FileTranslation &translation) {
  Json vocabulary = readTokenizerObject(translation.directory, "vocab.json", translation.errors);
  for (auto &[token, value] : vocabulary.items()) {
    auto id = readTokenId(value, token, translation.errors);
    if (!id)
      break;
    translation.draft.know(token, *id);
  }
  return vocabulary;
}

// Lines "a b", the strongest merge first.
Json readMerges(FileTranslation &translation) {
  std::string text = readTokenizerLines(translation.directory, "merges.txt", translation.errors);
  Json merges = Json::array();
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (!line.empty() && line.compare(0, 8, "#version") != 0)
      merges.push_back(std::move(line));
  }
  return merges;
}

void readModel(FileTranslation &translation) {
  Json merges = readMerges(translation);
  Json vocabulary = readVocabulary(translation);
  translation.draft.json["model"] = {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", std::move(merges)}};
  translation.draft.json["decoder"] = {{"type", "ByteLevel"}};
}

Json byteLevel(const FileTranslation &translation, bool usesPattern) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", translation.settings.flag("add_prefix_space", false)},
          {"use_regex", usesPattern}};
}

}  // namespace

void translateGpt2(FileTranslation &translation) {
  const TokenRole begin{"bos_token", "<|endoftext|>"};
  TokenizerDraft &draft = translation.draft;
  readModel(translation);
  draft.json["pre_tokenizer"] = byteLevel(translation, true);
  translation.addTokens(
      {begin, {"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}, {"pad_token", nullptr}});
  auto token = translation.settings.token(begin);
  if (token && translation.settings.flag("add_bos_token", false))
    draft.setTemplates({{token->content}, {"$A"}}, {{token->content}, {"$A"}, {"$B", 1}});
}

void translateRoberta(FileTranslation &translation) {
  const TokenizerSettings &settings = translation.settings;
  TokenizerDraft &draft = translation.draft;
  readModel(translation);
  draft.json["pre_tokenizer"] = byteLevel(translation, true);
  translation.addTokens({{"bos_token", "<s>"},
                         {"eos_token", "</s>"},
                         {"unk_token", "<unk>"},
                         robertaEnd,
                         {"pad_token", "<pad>"},
                         robertaBegin,
                         {"mask_token", "<mask>", true}});
  auto begin = settings.token(robertaBegin), end = settings.token(robertaEnd);
  if (begin && end)
    draft.setTemplates({{begin->content}, {"$A"}, {end->content}},
                       {{begin->content}, {"$A"}, {end->content}, {end->content}, {"$B"}, {end->content}});
}

void translateQwen2(FileTranslation &translation) {
  TokenizerDraft &draft = translation.draft;
  readModel(translation);
  draft.json["normalizer"] = {{"type", "NFC"}};
  Json split = {{"type", "Split"}, {"pattern", {{"Regex", qwen2Pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
  draft.json["pre_tokenizer"] = {{"type", "Sequence"},
                                 {"pretokenizers", Json::array({std::move(split), byteLevel(translation, false)})}};
  translation.addTokens({{"bos_token", nullptr},
                         {"eos_token", "<|endoftext|>"},
                         {"unk_token", "<|endoftext|>"},
                         {"pad_token", "<|endoftext|>"}});
}

}  // namespace talc::frontend
