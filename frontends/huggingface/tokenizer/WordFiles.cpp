// SPDX-License-Identifier: Apache-2.0
// vocab.txt or vocab.json of models whose tokens are words: Transformer-XL. Texts are cut as those of WikiText are:
// words and punctuation by themselves, and what joins digits as a token of its own.
//
//   A well-known cost: 5,000 (or 1.8 times as much).  ->
//   A well @-@ known cost : 5 @,@ 000 ( or 1 @.@ 8 times as much ) .
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

namespace talc::frontend {

namespace {

const TokenRole unknownRole{"unk_token", "<unk>"}, endRole{"eos_token", "<eos>"},
    formulaRole{"formula_token", "<formula>"};

// A token is the first word of its line.
Json readLines(FileTranslation &translation) {
  std::string text = readTokenizerLines(translation.directory, "vocab.txt", translation.errors);
  if (!isUtf8(text))
    translation.errors.fail(TokenizerError::Vocabulary, "", "is not UTF-8");
  Json vocabulary = Json::object();
  uint32_t line = 0;
  for (size_t begin = 0; begin < text.size() && !translation.errors.failed(); ++line) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string token = text.substr(begin, std::min(text.find_first_of(" \t\r\n", begin), text.size()) - begin);
    begin = end + 1;
    if (!token.empty())
      vocabulary[token] = line;
  }
  return vocabulary;
}

Json readVocabulary(FileTranslation &translation) {
  bool lines = translation.directory.contains("vocab.txt");
  Json vocabulary =
      lines ? readLines(translation) : readTokenizerObject(translation.directory, "vocab.json", translation.errors);
  for (const auto &[token, id] : vocabulary.items())
    if (id.is_number_unsigned() && id.get<uint64_t>() <= UINT32_MAX)
      translation.draft.know(token, id.get<uint32_t>());
  return vocabulary;
}

Json replaced(const Json &pattern, const std::string &content) {
  return {{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
}

Json makeDecoder() {
  Json all = Json::array({{{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}, {{"type", "Fuse"}}});
  for (const char *sign : {",", ".", "-"})
    all.push_back(replaced({{"String", std::string(" @") + sign + "@ "}}, sign));
  return {{"type", "Sequence"}, {"decoders", std::move(all)}};
}

}  // namespace

void translateWords(FileTranslation &translation) {
  TokenizerDraft &draft = translation.draft;
  auto unknown = translation.settings.token(unknownRole);
  draft.json["model"] = {{"type", "WordLevel"},
                         {"unk_token", unknown ? unknown->content : unknownRole.content},
                         {"vocab", readVocabulary(translation)}};
  Json normalizer = makeMosesNormalizer();
  if (translation.settings.flag("lower_case", false))
    normalizer["normalizers"].insert(normalizer["normalizers"].begin(), {{"type", "Lowercase"}});
  draft.json["normalizer"] = std::move(normalizer);
  draft.json["pre_tokenizer"] = makeMosesPreTokenizer();
  draft.json["decoder"] = makeDecoder();
  translation.addTokens({unknownRole, endRole, formulaRole});
}

}  // namespace talc::frontend
