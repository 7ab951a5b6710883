// SPDX-License-Identifier: Apache-2.0
// Decides which files of a model directory are its tokenizer.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/TokenizerCompiler.h"

#include <algorithm>
#include <fstream>

namespace talc::frontend {

namespace {

constexpr uint64_t maxFileSize = uint64_t(256) << 20;

using Translate = void (*)(FileTranslation &);

// tokenizer_class of tokenizer_config.json, or else model_type of config.json, decides.
struct TokenizerClass {
  const char *name;
  std::vector<const char *> modelTypes;
  Translate translate;
};

const TokenizerClass classes[] = {
    {"BertTokenizer", {"bert"}, translateWordPiece},
    {"DistilBertTokenizer", {"distilbert"}, translateWordPiece},
    {"ElectraTokenizer", {"electra"}, translateWordPiece},
    {"MobileBertTokenizer", {"mobilebert"}, translateWordPiece},
    {"GPT2Tokenizer", {"gpt2", "gpt_neo", "gptj", "opt"}, translateGpt2},
    {"CodeGenTokenizer", {"codegen", "phi"}, translateGpt2},
    {"RobertaTokenizer", {"roberta"}, translateRoberta},
    {"BartTokenizer", {"bart"}, translateRoberta},
    {"Qwen2Tokenizer", {"qwen2", "qwen3"}, translateQwen2},
    {"LlamaTokenizer", {"llama", "mistral", "mixtral"}, translateLlama},
    {"T5Tokenizer", {"t5", "mt5", "umt5"}, translateT5},
    {"XLMRobertaTokenizer", {"xlm-roberta"}, translateXlmRoberta},
    {"CamembertTokenizer", {"camembert"}, translateCamembert},
    {"MarianTokenizer", {"marian"}, translateMarian},
    {"TransfoXLTokenizer", {"transfo-xl"}, translateWords},
};

// If no setting names the tokenizer, the files tell it.
struct FileRule {
  std::vector<const char *> files;
  Translate translate;
};

const FileRule rules[] = {
    {{"source.spm", "vocab.json"}, translateMarian},
    {{"vocab.json", "merges.txt"}, translateGpt2},
    {{"vocab.txt"}, translateWordPiece},
    {{"vocab.json"}, translateWords},
    {{"tokenizer.model"}, translateLlama},
    {{"spiece.model"}, translateT5},
    {{"sentencepiece.bpe.model"}, translateXlmRoberta},
};

bool hasFiles(const ModelDirectory &directory, const FileRule &rule) {
  return std::all_of(rule.files.begin(), rule.files.end(), [&](const char *file) { return directory.contains(file); });
}

// Returns null without an error if no class is named, or none that a model type has.
Translate findByClass(const TokenizerSettings &settings, CompileErrors &errors) {
  for (const TokenizerClass &known : classes) {
    auto isSame = [&](const char *type) { return settings.modelType() == type; };
    bool ofType = std::any_of(known.modelTypes.begin(), known.modelTypes.end(), isSame);
    if (settings.tokenizerClass().empty() ? ofType : settings.tokenizerClass() == known.name)
      return known.translate;
  }
  if (!settings.tokenizerClass().empty())
    errors.fail(TokenizerError::Unsupported, "tokenizer_class",
                "'" + settings.tokenizerClass() + "' without a tokenizer.json is not known to talc");
  return nullptr;
}

}  // namespace

std::string readTokenizerFile(const ModelDirectory &directory, const std::string &file, CompileErrors &errors) {
  errors.speakOf(directory.path() + "/" + file);
  Diagnostics diagnostics;
  auto text = directory.readText(file, maxFileSize, diagnostics);
  if (text)
    return *text;
  errors.failWith(diagnostics.errors().front());
  return {};
}

Json readTokenizerObject(const ModelDirectory &directory, const std::string &file, CompileErrors &errors) {
  std::string text = readTokenizerFile(directory, file, errors);
  auto json = errors.failed() ? std::nullopt : parseJson(text, errors);
  if (json && json->is_object())
    return *json;
  if (json)
    errors.fail(TokenizerError::WrongField, "", "expected an object, found " + describe(*json));
  return Json::object();
}

void FileTranslation::addTokens(const std::vector<TokenRole> &roles) {
  std::vector<AddedToken> named;
  for (const TokenRole &role : roles)
    if (auto token = settings.token(role); token && (settings.names(role) || draft.findId(token->content)))
      named.push_back(std::move(*token));
  for (AddedToken token : settings.addedTokens()) {
    auto isSame = [&](const AddedToken &t) { return t.content == token.content; };
    token.special |= std::any_of(named.begin(), named.end(), isSame);
    draft.addToken(token);
  }
  for (const AddedToken &token : named)
    draft.addToken(token);
}

Json readTokenizerFiles(const ModelDirectory &directory, CompileErrors &errors) {
  if (directory.contains("tokenizer.json"))
    return readTokenizerObject(directory, "tokenizer.json", errors);
  auto rule = std::find_if(std::begin(rules), std::end(rules), [&](auto &r) { return hasFiles(directory, r); });
  if (rule == std::end(rules))
    return nullptr;
  TokenizerSettings settings(directory, errors);
  Translate translate = errors.failed() ? nullptr : findByClass(settings, errors);
  FileTranslation translation{directory, settings, errors, TokenizerDraft(errors)};
  if (!errors.failed())
    (translate ? translate : rule->translate)(translation);
  return std::move(translation.draft.json);
}

std::optional<std::vector<uint8_t>> compileTokenizerFile(const std::string &path, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) {
    CompileErrors(path, error).fail(TokenizerError::Unreadable, "", "the file cannot be read");
    return std::nullopt;
  }
  return compileTokenizer(text, path, error);
}

std::optional<std::vector<uint8_t>> compileTokenizerDirectory(const std::string &path, std::string &error) {
  CompileContext context(path, error);
  Diagnostics diagnostics;
  auto directory = ModelDirectory::open(path, diagnostics);
  if (!directory) {
    context.errors.failWith(diagnostics.errors().front());
    return std::nullopt;
  }
  Json json = readTokenizerFiles(*directory, context.errors);
  if (json.is_null() && !context.errors.failed())
    return std::vector<uint8_t>();
  return compileTokenizer(context, json);
}

}  // namespace talc::frontend
