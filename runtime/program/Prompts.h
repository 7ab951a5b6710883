// SPDX-License-Identifier: Apache-2.0
// Turns the prompts of the command line into token ids.
#pragma once

#include "runtime/program/Options.h"

namespace talc::program {

struct Prompt {
  std::string text;  // empty for a prompt given as ids
  std::vector<int32_t> ids;
};

Status readPrompts(const talc_model *model, const std::vector<PromptSource> &sources, std::vector<Prompt> &prompts);

}  // namespace talc::program
