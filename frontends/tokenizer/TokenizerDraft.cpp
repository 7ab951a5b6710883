// SPDX-License-Identifier: Apache-2.0
// Builds the parts of a tokenizer.json that all translations share: added tokens and templates.
#include "frontends/tokenizer/TokenizerDraft.h"

#include <algorithm>

namespace talc::frontend {

void TokenizerDraft::know(const std::string &content, uint32_t id) {
  ids[content] = id;
  nextId = std::max(nextId, id + 1);
}

std::optional<uint32_t> TokenizerDraft::findId(const std::string &content) const {
  auto at = ids.find(content);
  return at == ids.end() ? std::nullopt : std::optional<uint32_t>(at->second);
}

void TokenizerDraft::addToken(const AddedToken &token) {
  if (!added.insert(token.content).second)
    return;
  auto knownId = findId(token.content);
  uint32_t id = knownId ? *knownId : token.id.value_or(nextId);
  know(token.content, id);
  json["added_tokens"].push_back(Json::object({{"id", id},
                                               {"content", token.content},
                                               {"special", token.special},
                                               {"single_word", token.singleWord},
                                               {"lstrip", token.stripsLeft},
                                               {"rstrip", token.stripsRight},
                                               {"normalized", token.normalized}}));
}

Json TokenizerDraft::templateItems(const Template &parts, Json &specialTokens) {
  Json items = Json::array();
  for (const TemplatePart &part : parts) {
    if (part.content == "$A" || part.content == "$B") {
      items.push_back(Json::object({{"Sequence", {{"id", part.content.substr(1)}, {"type_id", part.type}}}}));
      continue;
    }
    auto id = findId(part.content);
    if (!id) {
      errors.fail(TokenizerError::Vocabulary, "", "the vocabulary has no '" + part.content + "', which texts need");
      return items;
    }
    specialTokens[part.content] = {{"ids", Json::array({*id})}};
    items.push_back(Json::object({{"SpecialToken", {{"id", part.content}, {"type_id", part.type}}}}));
  }
  return items;
}

void TokenizerDraft::setTemplates(const Template &single, const Template &pair) {
  Json specialTokens = Json::object();
  Json singleItems = templateItems(single, specialTokens), pairItems = templateItems(pair, specialTokens);
  json["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", std::move(singleItems)},
                            {"pair", std::move(pairItems)},
                            {"special_tokens", std::move(specialTokens)}};
}

}  // namespace talc::frontend
