// SPDX-License-Identifier: Apache-2.0
// Decides which files of a model directory are its tokenizer.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/FileLimits.h"
#include "frontends/NamedFile.h"
#include "frontends/huggingface/tokenizer/LanguageRules.h"
#include "frontends/huggingface/tokenizer/TokenizerClasses.h"
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"
#include "frontends/tokenizer/TokenizerCompiler.h"

#include <algorithm>

namespace talc::frontend {

namespace {

constexpr uint64_t maxFileSize = uint64_t(256) << 20;

using Translate = void (*)(FileTranslation &);

// If no setting names the tokenizer, the files tell it.
struct FileRule {
  std::vector<const char *> files;
  Translate translate;
  bool isFormat = false;                              // the files tell it even if a setting names a class
  bool (*isMatch)(const ModelDirectory &) = nullptr;  // null: the names of the files are enough
};

const FileRule rules[] = {
    {{"tekken.json"}, translateTekken, true},
    {{"tokenizer.model"}, translateTiktoken, true, hasTiktokenModel},
    {{"qwen.tiktoken"}, translateTiktoken, true},
    {{"multilingual.tiktoken"}, translateTiktoken, true},
    {{"gpt2.tiktoken"}, translateTiktoken, true},
    {{"source.spm", "vocab.json"}, translateMarian},
    {{"sentencepiece.bpe.model", "vocab.json"}, translateM2m100},
    {{"vocab.json", "merges.txt"}, translateGpt2},
    {{"vocab.txt"}, translateWordPiece},
    {{"vocab.json"}, translateWords},
    {{"tokenizer.model"}, translateLlama},
    {{"spiece.model"}, translateT5},
    {{"sentencepiece.bpe.model"}, translateXlmRoberta},
};

bool hasFiles(const ModelDirectory &directory, const FileRule &rule) {
  return std::all_of(rule.files.begin(), rule.files.end(),
                     [&](const char *file) { return directory.contains(file); }) &&
         (!rule.isMatch || rule.isMatch(directory));
}

// Returns null without an error if no class is named, or none that a model type has.
Translate findByClass(const TokenizerSettings &settings, CompileErrors &errors) {
  const TokenizerClass *known = findTokenizerClass(settings);
  if (!settings.tokenizerClass().empty() && !(known && known->translate))
    errors.fail(TokenizerError::Unsupported, "tokenizer_class",
                "'" + settings.tokenizerClass() + "' without a tokenizer.json is not known to talc");
  return known ? known->translate : nullptr;
}

}  // namespace

std::string readTokenizerFile(const ModelDirectory &directory, const std::string &file, CompileErrors &errors) {
  errors.speakOf(directory.path() + "/" + file);
  Diagnostics diagnostics;
  auto text = directory.readText(file, maxFileSize, diagnostics);
  if (text)
    return std::move(*text);
  errors.failWith(diagnostics.errors().front());
  return {};
}

std::string readTokenizerLines(const ModelDirectory &directory, const std::string &file, CompileErrors &errors) {
  std::string text = readTokenizerFile(directory, file, errors);
  if (static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) > maxLines(text.size()))
    errors.fail(TokenizerError::TooLarge, "", "has more than " + std::to_string(maxLines(text.size())) + " lines");
  return errors.failed() ? std::string() : text;
}

Json readTokenizerObject(const ModelDirectory &directory, const std::string &file, CompileErrors &errors) {
  std::string text = readTokenizerFile(directory, file, errors);
  auto json = errors.failed() ? std::nullopt : parseJson(text, errors);
  if (json && json->is_object())
    return std::move(*json);
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

static Json translateFiles(const ModelDirectory &directory, const FileRule &rule, CompileErrors &errors) {
  TokenizerSettings settings(directory, errors);
  Translate translate = errors.failed() || rule.isFormat ? nullptr : findByClass(settings, errors);
  FileTranslation translation{directory, settings, errors, TokenizerDraft(errors)};
  if (!errors.failed())
    (translate ? translate : rule.translate)(translation);
  if (!errors.failed())
    applyLanguages(translation.draft.json, settings, errors);
  return std::move(translation.draft.json);
}

Json readTokenizerFiles(const ModelDirectory &directory, CompileErrors &errors) {
  if (directory.contains("tokenizer.json"))
    return readTokenizerJson(directory, errors);
  auto rule = std::find_if(std::begin(rules), std::end(rules), [&](auto &r) { return hasFiles(directory, r); });
  return rule == std::end(rules) ? Json() : translateFiles(directory, *rule, errors);
}

// A vocabulary file that is a whole tokenizer with the settings beside it. Null without an error if it is none.
static Json readVocabularyFile(const std::string &path, CompileErrors &errors) {
  size_t slash = path.rfind('/');
  std::string name = path.substr(slash + 1);
  auto isNamed = [&](const FileRule &rule) { return rule.files.size() == 1 && rule.files[0] == name; };
  if (std::none_of(std::begin(rules), std::end(rules), isNamed))
    return nullptr;
  Diagnostics diagnostics;
  auto directory = ModelDirectory::open(slash == std::string::npos ? "." : path.substr(0, slash + 1), diagnostics);
  if (!directory) {
    errors.failWith(diagnostics.errors().front());
    return nullptr;
  }
  auto rule = std::find_if(std::begin(rules), std::end(rules),
                           [&](const FileRule &r) { return isNamed(r) && hasFiles(*directory, r); });
  return rule == std::end(rules) ? Json() : translateFiles(*directory, *rule, errors);
}

std::optional<std::vector<uint8_t>> compileTokenizerFile(const std::string &path, std::string &error) {
  CompileContext context(path, error);
  Json translated = readVocabularyFile(path, context.errors);
  if (!translated.is_null() || context.errors.failed())
    return compileTokenizer(context, translated);
  std::string problem;
  auto text = readNamedFile(path, {maxFileSize, NamedBy::User, /*isReadOnce=*/true}, problem);
  if (text)
    return compileTokenizer(*text, path, error);
  context.errors.fail(TokenizerError::Unreadable, "", "the file " + problem);
  return std::nullopt;
}

std::optional<std::vector<uint8_t>> compileTokenizerDirectory(const std::string &path, std::string &error,
                                                              std::vector<std::string> *warnings) {
  CompileContext context(path, error);
  Diagnostics diagnostics;
  auto directory = ModelDirectory::open(path, diagnostics);
  if (!directory) {
    context.errors.failWith(diagnostics.errors().front());
    return std::nullopt;
  }
  Json json = readTokenizerFiles(*directory, context.errors);
  if (warnings)
    *warnings = context.errors.warnings();
  if (json.is_null() && !context.errors.failed())
    return std::vector<uint8_t>();
  return compileTokenizer(context, json);
}

}  // namespace talc::frontend
