// SPDX-License-Identifier: Apache-2.0
// The top level of tokenizer.json.
#include "frontends/tokenizer/TokenizerCompiler.h"
#include "frontends/tokenizer/stages/PipelineStages.h"

namespace talc::frontend {

namespace {

void compileTargets(CompileContext &context, const JsonFields &fields, const char *name) {
  forEachIn(context, fields, name, [&](const Json &json, const std::string &path) {
    JsonFields token(json, path, context.errors);
    uint32_t special = token.flag("special", false) ? uint32_t(tokenizer::tokenSpecial) : 0;
    tokenizer::Text text = context.section.addText(token.text("content"));
    context.section.targets.push_back({text, tokenizer::tokenPresent | special});
  });
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
  // Translations of tokenizers with a second vocabulary: what generated ids mean.
  if (fields.find("targets"))
    compileTargets(context, fields, "targets");
  compilePostProcessor(context, fields.find("post_processor"), "post_processor");
  compileDecoder(context, fields.find("decoder"), "decoder");
}

}  // namespace

std::optional<std::vector<uint8_t>> compileTokenizer(CompileContext &context, const Json &description) {
  if (!context.errors.failed())
    compileStages(context, description);
  if (context.errors.failed())
    return std::nullopt;
  return context.section.finish();
}

std::optional<std::vector<uint8_t>> compileTokenizer(std::string_view text, const std::string &name,
                                                     std::string &error) {
  CompileContext context(name, error);
  auto json = parseJson(text, context.errors);
  return json ? compileTokenizer(context, *json) : std::nullopt;
}

}  // namespace talc::frontend
