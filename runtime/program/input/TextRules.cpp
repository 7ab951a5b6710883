// SPDX-License-Identifier: Apache-2.0
// Finds the prompt before texts, and counts its tokens as sentence-transformers does.
#include "runtime/NearestWord.h"
#include "runtime/program/input/Prompts.h"

#include <cstdio>

namespace talc::program {

// The index of the prompt that the options name, or the default; -1: none.
static Status choosePrompt(const talc_embedding_info &info, const Options &options, int32_t &index) {
  index = options.promptName ? -1 : info.default_prompt;
  if (!options.promptName || options.promptName->empty())
    return {};
  std::vector<std::string> names(info.prompt_names, info.prompt_names + info.prompt_count);
  std::string list;
  for (int32_t i = 0; i < info.prompt_count; ++i) {
    list += (i > 0 ? ", " : "") + names[i];
    if (names[i] == *options.promptName)
      index = i;
  }
  if (index >= 0)
    return {};
  std::string listed = info.prompt_count > 0 ? "it has " + list : "it has none";
  return Status::failure(TALC_ERROR_USAGE,
                         "command line: option '--prompt-name' names '%s'%s, which is not a prompt of "
                         "this model: %s; see --help",
                         options.promptName->c_str(), suggestion(*options.promptName, names).c_str(), listed.c_str());
}

Status TextRules::read(const talc_model *model, const talc_embedding_info &info, const Options &options) {
  int32_t index = -1;
  if (Status status = choosePrompt(info, options, index); status.failed())
    return status;
  longest = info.max_tokens;
  source = options.sourceLanguage;
  if (index < 0 || options.usesIds() || *info.prompts[index] == '\0')
    return {};
  Prompt alone = {info.prompts[index], {}, {}, {}};
  if (Status status = tokenizeLine(model, TextRules(), "--prompt-name", nullptr, alone); status.failed())
    return status;
  text = info.prompts[index];
  tokens = static_cast<int32_t>(alone.ids.size());
  if (!alone.ids.empty() && talc_is_special_token(model, alone.ids.back()))
    --tokens;
  return {};
}

void TextRules::noteCut(const std::string &place, size_t dropped) const {
  if (isTold)
    return;
  isTold = true;
  fprintf(stderr, "warning: %s: has %zu tokens too many; texts are cut to %d tokens, as the model's files say\n",
          place.c_str(), dropped, longest);
}

}  // namespace talc::program
