// SPDX-License-Identifier: Apache-2.0
// Turns texts into token ids.
#pragma once

#include "runtime/program/Options.h"

namespace talc::program {

struct Prompt {
  std::string text;                 // empty for a prompt given as ids
  std::vector<int32_t> ids;         // of an encoder-decoder: the source
  std::vector<int32_t> types;       // of the tokens; empty: all 0
  std::vector<int32_t> decoderIds;  // how the text of an encoder-decoder begins; empty: as the model says
  int32_t prefix = 0;               // tokens of its prefix; 0: as for all others
};

// The limit for a text from a file.
constexpr size_t maxPromptBytes = size_t(64) << 20;

// The names of a file, and of an input of the command line, in messages.
std::string shownName(const std::string &path);
const char *itemName(const talc_model_info &info);

Status readPrompts(const talc_model *model, const std::vector<PromptSource> &sources, std::vector<Prompt> &prompts);

// Tokenizes a line. `place` is its name in messages.
Status tokenizeLine(const talc_model *model, const std::string &place, Prompt &line);

}  // namespace talc::program
