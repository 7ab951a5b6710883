// SPDX-License-Identifier: Apache-2.0
// The languages of a tokenizer, by the names that users give.
#pragma once

#include "runtime/tokenizer/Section.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

class LanguageTable {
public:
  LanguageTable() = default;
  explicit LanguageTable(const tokenizer::Section &section);
  LanguageTable(const LanguageTable &) = delete;
  LanguageTable &operator=(const LanguageTable &) = delete;

  // In the order of the section; the texts live as long as the table.
  const std::vector<const char *> &names() const { return pointers; }
  const std::vector<int32_t> &tokens() const { return ids; }
  // The index of the language of texts if nobody names one; -1: none.
  int32_t ownLanguage() const { return ownIndex; }

  // The token of a language; -1: it is unknown.
  int32_t findToken(std::string_view name) const;
  bool contains(int32_t token) const;

private:
  std::vector<std::string> texts;
  std::vector<const char *> pointers;
  std::vector<int32_t> ids;
  int32_t ownIndex = -1;
};

}  // namespace talc
