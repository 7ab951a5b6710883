// SPDX-License-Identifier: Apache-2.0
// Copies the names, because texts of a section have no NUL at their ends.
#include "runtime/tokenizer/LanguageTable.h"

#include <algorithm>

namespace talc {

using namespace tokenizer;

LanguageTable::LanguageTable(const Section &section) {
  for (const Language &language : section.languages) {
    texts.emplace_back(section.text(language.name));
    ids.push_back(static_cast<int32_t>(language.token));
  }
  for (const std::string &text : texts)
    pointers.push_back(text.c_str());
  for (const TemplateItem &item : section.single)
    if (auto at = std::find(ids.begin(), ids.end(), static_cast<int32_t>(item.value));
        item.kind == static_cast<uint32_t>(ItemKind::Language) && at != ids.end())
      ownIndex = static_cast<int32_t>(at - ids.begin());
}

int32_t LanguageTable::findToken(std::string_view name) const {
  auto at = std::find(texts.begin(), texts.end(), name);
  return at == texts.end() ? -1 : ids[static_cast<size_t>(at - texts.begin())];
}

bool LanguageTable::contains(int32_t token) const {
  return std::find(ids.begin(), ids.end(), token) != ids.end();
}

}  // namespace talc
