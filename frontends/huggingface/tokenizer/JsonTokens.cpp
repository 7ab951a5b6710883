// SPDX-License-Identifier: Apache-2.0
// The tokens that settings add to a tokenizer.json.
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"

#include <algorithm>

namespace talc::frontend {

namespace {

const TokenRole roles[] = {{"bos_token", nullptr}, {"eos_token", nullptr}, {"unk_token", nullptr},
                           {"sep_token", nullptr}, {"pad_token", nullptr}, {"cls_token", nullptr},
                           {"mask_token", nullptr}};

// The vocabulary of a description: an object of ids, or a list whose places are ids.
class DescribedVocabulary {
public:
  explicit DescribedVocabulary(const Json &description) {
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

  std::optional<uint32_t> find(const std::string &content) const {
    if (auto at = listed.find(content); at != listed.end())
      return at->second;
    auto at = entries ? entries->find(content) : Json::const_iterator();
    if (!entries || at == entries->end() || !at->is_number_unsigned())
      return std::nullopt;
    return static_cast<uint32_t>(std::min<uint64_t>(at->get<uint64_t>(), UINT32_MAX));
  }

  size_t size = 0;

private:
  const Json *entries = nullptr;
  std::unordered_map<std::string, uint32_t> listed;
};

// The list of added tokens, which grows as that of the library tokenizers does.
class AddedTokenList {
public:
  AddedTokenList(Json &description, CompileErrors &errors) : vocabulary(description), errors(errors) {
    Json &tokens = description["added_tokens"];
    if (tokens.is_null())
      tokens = Json::array();
    if (!tokens.is_array())
      return;  // the compiler of added tokens reports it
    list = &tokens;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Json &token = tokens[i];
      if (!token.is_object() || !token.contains("content") || !token["content"].is_string())
        continue;
      places.emplace(token["content"].get<std::string>(), i);
      if (token.contains("id") && token["id"].is_number_unsigned())
        noteId(token["id"].get<uint64_t>());
    }
  }

  bool contains(const std::string &content) const { return places.count(content) != 0; }

  // Adds a token, or changes the flags of the one that is there.
  void set(const AddedToken &token) {
    if (!list || token.content.empty())
      return;
    Json entry{{"content", token.content},   {"special", token.special},    {"single_word", token.singleWord},
               {"lstrip", token.stripsLeft}, {"rstrip", token.stripsRight}, {"normalized", token.normalized}};
    if (auto at = places.find(token.content); at != places.end())
      return (*list)[at->second].update(entry);
    auto ownId = vocabulary.find(token.content);
    uint64_t id = ownId ? *ownId : std::max<uint64_t>(nextId, vocabulary.size);
    if (token.id && *token.id != id)
      errors.warn("added_tokens_decoder gives '" + token.content + "' the id " + std::to_string(*token.id) +
                  "; it has " + std::to_string(id) + ", as in transformers");
    noteId(id);
    entry["id"] = id;
    places.emplace(token.content, list->size());
    list->push_back(std::move(entry));
  }

private:
  DescribedVocabulary vocabulary;
  CompileErrors &errors;
  Json *list = nullptr;
  std::unordered_map<std::string, size_t> places;
  uint64_t nextId = 0;

  void noteId(uint64_t id) { nextId = std::max(nextId, std::min<uint64_t>(id, UINT32_MAX) + 1); }
};

}  // namespace

void applyTokens(Json &description, const TokenizerSettings &settings, CompileErrors &errors) {
  std::vector<AddedToken> named;
  for (const TokenRole &role : roles)
    if (auto token = settings.token(role))
      named.push_back(std::move(*token));
  for (AddedToken &token : settings.extraTokens())
    named.push_back(std::move(token));
  AddedTokenList list(description, errors);
  for (AddedToken token : settings.listedTokens()) {
    auto isSame = [&](const AddedToken &other) { return other.content == token.content; };
    token.special |= std::any_of(named.begin(), named.end(), isSame);
    list.set(token);
  }
  for (const AddedToken &token : named)
    if (!list.contains(token.content))
      list.set(token);
}

std::optional<uint32_t> findTokenId(const Json &description, const std::string &content) {
  auto added = description.find("added_tokens");
  if (added != description.end() && added->is_array())
    for (const Json &token : *added)
      if (token.is_object() && token.value("content", Json()) == content && token.contains("id") &&
          token["id"].is_number_unsigned() && token["id"].get<uint64_t>() < UINT32_MAX)
        return token["id"].get<uint32_t>();
  return DescribedVocabulary(description).find(content);
}

}  // namespace talc::frontend
