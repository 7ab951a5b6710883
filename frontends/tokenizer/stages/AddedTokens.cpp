// SPDX-License-Identifier: Apache-2.0
// The added_tokens of tokenizer.json.
#include "frontends/FileLimits.h"
#include "frontends/tokenizer/stages/PipelineStages.h"

#include <unordered_map>

namespace talc::frontend {

using namespace tokenizer;

namespace {

uint32_t readFlags(const JsonFields &fields) {
  // Descriptions that talc makes itself may have tokens that no text is searched for.
  uint32_t flags = tokenPresent | (fields.flag("matched", true) ? uint32_t(tokenAdded) : 0);
  if (fields.flag("special", false))
    flags |= tokenSpecial;
  if (fields.flag("single_word", false))
    flags |= tokenSingleWord;
  if (fields.flag("lstrip", false))
    flags |= tokenStripLeft;
  if (fields.flag("rstrip", false))
    flags |= tokenStripRight;
  if (fields.flag("normalized", !fields.flag("special", false)))
    flags |= tokenNormalized;
  return flags;
}

}  // namespace

void compileAddedTokens(CompileContext &context, const Json &json, const std::string &path) {
  SectionBuilder &section = context.section;
  std::unordered_map<uint32_t, uint32_t> idOfText;  // by offset in the pool: equal texts are stored once
  for (uint32_t id = 0; id < section.tokens.size(); ++id)
    if (section.tokens[id].flags & tokenPresent)
      idOfText[section.tokens[id].text.offset] = id;

  for (size_t i = 0; i < json.size() && !context.errors.failed(); ++i) {
    JsonFields fields(json[i], path + "[" + std::to_string(i) + "]", context.errors);
    std::string content = fields.text("content");
    const Json *idField = fields.find("id");
    auto id = readTokenId(idField ? *idField : Json(), fields.path("id"), context.errors);
    uint32_t flags = readFlags(fields);
    if (!id || content.empty() || context.errors.failed())
      continue;
    if (isTooLong(content, fields.path("content"), context.errors))
      return;
    Text text = section.addText(content);
    // The model's vocabulary knows better.
    if (auto it = idOfText.find(text.offset); it != idOfText.end())
      id = it->second;
    // Text pieces without an id follow the vocabulary.
    if (*id >= section.tokens.size() && section.scores.size() > section.tokens.size())
      return context.errors.fail(TokenizerError::Vocabulary, fields.path("id"), "lies outside of the vocabulary");
    if (*id >= section.tokens.size() + maxTokenIds(json.size()))
      return context.errors.fail(TokenizerError::TooLarge, fields.path("id"),
                                 "the id " + std::to_string(*id) + " lies far behind the vocabulary");
    if (*id >= section.tokens.size())
      section.tokens.resize(*id + 1, Token{{0, 0}, 0});
    Token &token = section.tokens[*id];
    if ((token.flags & tokenPresent || token.text.size > 0) && token.text.offset != text.offset)
      return context.errors.fail(TokenizerError::Vocabulary, fields.path("id"),
                                 "id " + std::to_string(*id) + " of '" + content + "' belongs to another token");
    token = {text, flags};
    idOfText[text.offset] = *id;
    if (flags & tokenSingleWord && section.header.wordCharacters == none)
      section.header.wordCharacters = section.addSet(context.unicode.words());
  }
  // Tables by id cover the added ids too.
  if (!section.mergeFirst.empty())
    section.mergeFirst.resize(section.tokens.size() + 1, static_cast<uint32_t>(section.merges.size()));
  if (section.header.model.kind == uint32_t(ModelKind::Unigram) && section.scores.size() < section.tokens.size())
    section.scores.resize(section.tokens.size(), 0.0);
}

}  // namespace talc::frontend
