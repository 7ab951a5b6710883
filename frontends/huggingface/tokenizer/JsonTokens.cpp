// SPDX-License-Identifier: Apache-2.0
// The tokens that settings add to a tokenizer.json.
#include "frontends/huggingface/tokenizer/TokenIds.h"
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"

#include <algorithm>

namespace talc::frontend {

namespace {

const TokenRole roles[] = {{"bos_token", nullptr}, {"eos_token", nullptr}, {"unk_token", nullptr},
                           {"sep_token", nullptr}, {"pad_token", nullptr}, {"cls_token", nullptr},
                           {"mask_token", nullptr}};

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

}  // namespace talc::frontend
