// SPDX-License-Identifier: Apache-2.0
// The settings beside a vocabulary: tokenizer_config.json, special_tokens_map.json and added_tokens.json. They add
// tokens to a tokenizer.json and change its stages, as transformers does when it loads one.
#pragma once

#include "frontends/ModelDirectory.h"
#include "frontends/tokenizer/JsonFields.h"
#include "frontends/tokenizer/TokenizerDraft.h"

#include <optional>
#include <string>
#include <vector>

namespace talc::frontend {

// A role such as "cls_token", and its default token.
struct TokenRole {
  const char *name;
  const char *content;  // null: none
  bool stripsLeft = false;
};

class TokenizerSettings {
public:
  // None of the files need to be there.
  TokenizerSettings(const ModelDirectory &directory, CompileErrors &errors);

  // The class in tokenizer_config.json or config.json, without "Fast"; empty if it is missing or says nothing about the
  // tokenizer.
  const std::string &tokenizerClass() const { return className; }
  // Whether a class is named that says nothing about the tokenizer.
  bool isGeneric() const { return isGeneral; }
  // The model_type of config.json; empty if it is missing.
  const std::string &modelType() const { return model; }

  bool hasModelConfig() const { return !models.empty(); }
  // The value of a key of config.json; null if it lacks the key.
  const Json *modelConfig(const char *name) const;
  // Whether tokenizer_config.json has a key, with another value than null.
  bool says(const char *name) const;
  bool flag(const char *name, bool fallback) const;
  uint32_t number(const char *name, uint32_t fallback) const;
  std::string text(const char *name, const char *fallback) const;

  // The token of a role, if there is one.
  std::optional<AddedToken> token(const TokenRole &role) const;
  // Whether a file names it; otherwise it is the role's own.
  bool names(const TokenRole &role) const;
  // Tokens with ids, ascending, then additional_special_tokens.
  std::vector<AddedToken> addedTokens() const;
  // Returns only the tokens with ids, ascending.
  std::vector<AddedToken> listedTokens() const;
  // extra_special_tokens or additional_special_tokens, and keys such as image_token.
  std::vector<AddedToken> extraTokens() const;

  // Whether sentence-transformers makes texts lowercase: do_lower_case of sentence_bert_config.json.
  bool lowercasesTexts() const { return isLowercase; }
  // Keys of tokenizer_config.json that talc does not know, with a value that could mean something.
  std::vector<std::string> unknownKeys() const;

private:
  CompileErrors &errors;
  Json models = Json::object(), config = Json::object(), specialMap = Json::object(), addedMap = Json::object();
  std::string className, model;
  bool isGeneral = false, isLowercase = false;

  const Json *find(const char *name) const;
  AddedToken readToken(const Json &json, const std::string &path) const;
};

// Reads tokenizer.json and applies tokenizer_config.json, special_tokens_map.json, added_tokens.json and
// sentence_bert_config.json. Warns of settings that have no effect.
Json readTokenizerJson(const ModelDirectory &directory, CompileErrors &errors);

// Adds the tokens of the settings that the description lacks, and gives those that it has the flags of the settings.
// (JsonTokens.cpp)
void applyTokens(Json &description, const TokenizerSettings &settings, CompileErrors &errors);

}  // namespace talc::frontend
