// SPDX-License-Identifier: Apache-2.0
// The ids of the tokens of a description such as tokenizer.json.
#pragma once

#include "frontends/tokenizer/JsonFields.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace talc::frontend {

// The vocabulary of a description, which must outlive it: an object of ids, or a list whose places are ids.
class DescribedVocabulary {
public:
  explicit DescribedVocabulary(const Json &description);
  std::optional<uint32_t> find(const std::string &content) const;
  size_t size = 0;

private:
  const Json *entries = nullptr;
  std::unordered_map<std::string, uint32_t> listed;
};

// The ids of a description's added tokens and of its vocabulary.
class TokenIds {
public:
  explicit TokenIds(const Json &description);
  std::optional<uint32_t> find(const std::string &content);

private:
  const Json &description;
  std::unordered_map<std::string, uint32_t> added;
  std::optional<DescribedVocabulary> vocabulary;  // read when it is needed
};

}  // namespace talc::frontend
