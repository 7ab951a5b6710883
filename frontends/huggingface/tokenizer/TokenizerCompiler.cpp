// SPDX-License-Identifier: Apache-2.0
// The top level of tokenizer.json.
#include "frontends/huggingface/tokenizer/TokenizerCompiler.h"
#include "frontends/huggingface/tokenizer/PipelineStages.h"

#include <fstream>

namespace talc::huggingface {

namespace {

constexpr size_t maxDepth = 64;
constexpr size_t maxFileSize = size_t(256) << 20;

// Looks at brackets outside of strings only; the parser checks the rest.
bool isTooDeep(std::string_view json) {
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString) {
      if (c == '\\')
        ++i;
      if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > maxDepth)
        return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

void compileStages(CompileContext &context, const Json &json) {
  JsonFields fields(json, "tokenizer", context.errors);
  if (auto version = fields.optionalText("version"); version && *version != "1.0")
    context.errors.fail(TokenizerError::Unsupported, "version", "expected \"1.0\", found \"" + *version + "\"");
  context.section.header.whitespace = context.section.addSet(context.unicode.whitespace());
  context.section.header.wordCharacters = tokenizer::none;
  if (const Json *normalizer = fields.find("normalizer"))
    compileNormalizer(context, *normalizer, "normalizer");
  if (const Json *preTokenizer = fields.find("pre_tokenizer"))
    compilePreTokenizer(context, *preTokenizer, "pre_tokenizer");
  if (const Json *model = fields.object("model"))
    compileModel(context, *model, "model");
  if (fields.find("added_tokens")) {
    if (const Json *added = fields.array("added_tokens"))
      compileAddedTokens(context, *added, "added_tokens");
  }
  compilePostProcessor(context, fields.find("post_processor"), "post_processor");
  compileDecoder(context, fields.find("decoder"), "decoder");
}

}  // namespace

std::optional<std::vector<uint8_t>> compileTokenizer(std::string_view text, const std::string &name,
                                                     std::string &error) {
  CompileContext context(name, error);
  if (text.size() > maxFileSize)
    context.errors.fail(TokenizerError::TooLarge, "", "the file is larger than 256 MiB");
  else if (isTooDeep(text))
    context.errors.fail(TokenizerError::NotJson, "", "the JSON is nested deeper than " + std::to_string(maxDepth));
  if (context.errors.failed())
    return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    context.errors.fail(TokenizerError::NotJson, "", "the file is no JSON; is the download complete?");
  if (!context.errors.failed())
    compileStages(context, json);
  if (context.errors.failed())
    return std::nullopt;
  return context.section.finish();
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

}  // namespace talc::huggingface
