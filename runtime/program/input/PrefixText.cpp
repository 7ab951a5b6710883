// SPDX-License-Identifier: Apache-2.0
// Prefix and input are tokenized separately, so that the prefix has the same tokens before all inputs.
#include "runtime/program/input/Prompts.h"

#include <algorithm>

namespace talc::program {

Status PrefixText::read(const talc_model *model, const BeginTokens &begin, const std::optional<std::string> &text) {
  if (!text)
    return {};
  Prompt empty;
  prefix.text = *text;
  if (Status status = tokenizeLine(model, TextRules(), "--prefix-text", nullptr, empty); status.failed())
    return status;
  added = empty.ids;
  if (Status status = tokenizeLine(model, TextRules(), "--prefix-text", nullptr, prefix); status.failed())
    return status;
  if (prefix.ids.size() <= added.size())
    return Status::failure(TALC_ERROR_USAGE, "command line: --prefix-text has no tokens; see --help");
  begin.settle(prefix, "--prefix-text");
  return {};
}

void PrefixText::putBefore(Prompt &input) const {
  if (prefix.ids.empty() || input.ids.empty())
    return;
  bool begins = input.ids.size() >= added.size() && std::equal(added.begin(), added.end(), input.ids.begin());
  input.ids.erase(input.ids.begin(), input.ids.begin() + static_cast<ptrdiff_t>(begins ? added.size() : 0));
  input.ids.insert(input.ids.begin(), prefix.ids.begin(), prefix.ids.end());
  input.text = prefix.text + input.text;
  input.prefix = static_cast<int32_t>(prefix.ids.size());
}

}  // namespace talc::program
