// SPDX-License-Identifier: Apache-2.0
// Looks up tokens in what may be no vocabulary at all: descriptions are untrusted.
#include "frontends/huggingface/tokenizer/TokenIds.h"

#include <algorithm>

namespace talc::frontend {

DescribedVocabulary::DescribedVocabulary(const Json &description) {
  auto model = description.find("model");
  if (model == description.end() || !model->is_object() || !model->contains("vocab"))
    return;
  const Json &vocabulary = (*model)["vocab"];
  size = vocabulary.is_array() || vocabulary.is_object() ? vocabulary.size() : 0;
  if (vocabulary.is_object())
    entries = &vocabulary;
  for (uint32_t id = 0; vocabulary.is_array() && id < size; ++id)
    if (const Json &entry = vocabulary[id]; entry.is_array() && !entry.empty() && entry[0].is_string())
      listed.emplace(entry[0].get_ref<const std::string &>(), id);
}

std::optional<uint32_t> DescribedVocabulary::find(const std::string &content) const {
  if (auto at = listed.find(content); at != listed.end())
    return at->second;
  auto at = entries ? entries->find(content) : Json::const_iterator();
  if (!entries || at == entries->end() || !at->is_number_unsigned())
    return std::nullopt;
  return static_cast<uint32_t>(std::min<uint64_t>(at->get<uint64_t>(), UINT32_MAX));
}

TokenIds::TokenIds(const Json &description) : description(description) {
  auto tokens = description.find("added_tokens");
  if (tokens == description.end() || !tokens->is_array())
    return;
  for (const Json &token : *tokens)
    if (token.is_object() && token.value("content", Json()).is_string() && token.contains("id") &&
        token["id"].is_number_unsigned() && token["id"].get<uint64_t>() < UINT32_MAX)
      added.emplace(token["content"].get<std::string>(), token["id"].get<uint32_t>());
}

std::optional<uint32_t> TokenIds::find(const std::string &content) {
  if (auto at = added.find(content); at != added.end())
    return at->second;
  if (!vocabulary)
    vocabulary.emplace(description);
  return vocabulary->find(content);
}

}  // namespace talc::frontend
