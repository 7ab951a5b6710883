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

// The token of the source language in templates becomes that of the language of each text.
void compileLanguages(CompileContext &context, const JsonFields &fields) {
  SectionBuilder &section = context.section;
  auto readToken = [&](const JsonFields &json, const char *name) {
    const Json *value = json.find(name);
    auto id = readTokenId(value ? *value : Json(), json.path(name), context.errors);
    if (id && *id >= section.tokens.size())
      context.errors.fail(TokenizerError::Vocabulary, json.path(name), "lies outside of the vocabulary");
    return id.value_or(0);
  };
  forEachIn(context, fields, "languages", [&](const Json &json, const std::string &path) {
    JsonFields language(json, path, context.errors);
    section.languages.push_back({section.addText(language.text("name")), readToken(language, "id")});
  });
  uint32_t source = readToken(fields, "source_language");
  for (auto *items : {&section.single, &section.pair})
    for (tokenizer::TemplateItem &item : *items)
      if (item.kind == uint32_t(tokenizer::ItemKind::Token) && item.value == source)
        item.kind = uint32_t(tokenizer::ItemKind::Language);
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
  if (fields.find("languages"))
    compileLanguages(context, fields);
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
