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
  int32_t prefix = 0;               // so many of its tokens are its prefix; 0: as for all others
};

// Of a text from a file.
constexpr size_t maxPromptBytes = size_t(64) << 20;

// As messages call a file, and an input of the command line.
std::string shownName(const std::string &path);
const char *itemName(const talc_model_info &info);

Status readPrompts(const talc_model *model, const std::vector<PromptSource> &sources, std::vector<Prompt> &prompts);

// Makes tokens of a line's text. `place` is what messages call it.
Status tokenizeLine(const talc_model *model, const std::string &place, Prompt &line);

}  // namespace talc::program
