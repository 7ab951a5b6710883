// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json under construction, for models that come without one.
#pragma once

#include "frontends/tokenizer/JsonFields.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace talc::frontend {

// A token with the fields of tokenizer.json's added_tokens.
struct AddedToken {
  std::string content;
  std::optional<uint32_t> id;
  bool special = true;
  bool singleWord = false, stripsLeft = false, stripsRight = false, normalized = false;
};

// "$A", "$B" or the content of a token, with its type.
struct TemplatePart {
  std::string content;
  uint32_t type = 0;
};
using Template = std::vector<TemplatePart>;

class TokenizerDraft {
public:
  Json json = Json::object();

  explicit TokenizerDraft(CompileErrors &errors) : errors(errors) {}

  // Notes a token of the model's vocabulary.
  void know(const std::string &content, uint32_t id);
  std::optional<uint32_t> findId(const std::string &content) const;

  // Adds a token that is matched in texts before anything else. If the vocabulary lacks it, it gets its own id or the
  // next.
  void addToken(const AddedToken &token);
  // The templates around one text and around two; an error if a token is not in the vocabulary.
  void setTemplates(const Template &single, const Template &pair);

private:
  CompileErrors &errors;
  std::unordered_map<std::string, uint32_t> ids;
  std::unordered_set<std::string> added;
  uint32_t nextId = 0;

  Json templateItems(const Template &parts, Json &specialTokens);
};

}  // namespace talc::frontend
