// SPDX-License-Identifier: Apache-2.0
// vocab.txt of BERT and its relatives: one token per line, the id is the number of the line.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

namespace talc::frontend {

namespace {

const TokenRole unknownRole{"unk_token", "[UNK]"}, separatorRole{"sep_token", "[SEP]"}, beginRole{"cls_token", "[CLS]"};

// If several lines have the same token, the last one counts, as in Hugging Face's reader.
Json readVocabulary(FileTranslation &translation) {
  std::string text = readTokenizerLines(translation.directory, "vocab.txt", translation.errors);
  if (!isUtf8(text))
    translation.errors.fail(TokenizerError::Vocabulary, "", "is not UTF-8");
  Json vocabulary = Json::object();
  uint32_t line = 0;
  for (size_t begin = 0; begin < text.size() && !translation.errors.failed(); ++line) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string token = text.substr(begin, end - begin);
    begin = end + 1;
    if (!token.empty() && token.back() == '\r')
      token.pop_back();
    if (token.empty())
      continue;
    vocabulary[token] = line;
    translation.draft.know(token, line);
  }
  return vocabulary;
}

// Without basic tokenization, texts are cleaned but not changed.
Json makeNormalizer(const TokenizerSettings &settings) {
  bool basic = settings.flag("do_basic_tokenize", true);
  bool lowercase = settings.flag("do_lower_case", true);
  return {{"type", "BertNormalizer"},
          {"clean_text", true},
          {"handle_chinese_chars", basic && settings.flag("tokenize_chinese_chars", true)},
          {"strip_accents", basic && settings.flag("strip_accents", lowercase)},
          {"lowercase", basic && lowercase}};
}

std::string tokenContent(const TokenizerSettings &settings, const TokenRole &role) {
  auto token = settings.token(role);
  return token ? token->content : role.content;
}

}  // namespace

void translateWordPiece(FileTranslation &translation) {
  const TokenizerSettings &settings = translation.settings;
  TokenizerDraft &draft = translation.draft;
  Json normalizer = makeNormalizer(settings);
  draft.json["model"] = {{"type", "WordPiece"},
                         {"unk_token", tokenContent(settings, unknownRole)},
                         {"continuing_subword_prefix", "##"},
                         {"max_input_chars_per_word", 100u},
                         {"vocab", readVocabulary(translation)}};
  draft.json["normalizer"] = std::move(normalizer);
  draft.json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  draft.json["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  translation.addTokens({unknownRole, separatorRole, {"pad_token", "[PAD]"}, beginRole, {"mask_token", "[MASK]"}});
  std::string begin = tokenContent(settings, beginRole), separator = tokenContent(settings, separatorRole);
  draft.setTemplates({{begin}, {"$A"}, {separator}}, {{begin}, {"$A"}, {separator}, {"$B", 1}, {separator, 1}});
}

}  // namespace talc::frontend
