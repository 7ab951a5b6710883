// SPDX-License-Identifier: Apache-2.0
// Turns the prompts of the command line, or the lines of a file, into token ids.
#pragma once

#include "runtime/program/Options.h"

namespace talc::program {

struct Prompt {
  std::string text;                 // empty for a prompt given as ids
  std::vector<int32_t> ids;         // of an encoder-decoder: the source
  std::vector<int32_t> types;       // of the tokens; empty: all 0
  std::vector<int32_t> decoderIds;  // how the text of an encoder-decoder begins; empty: as the model says
};

// As messages call a file.
std::string shownName(const std::string &path);

Status readPrompts(const talc_model *model, const std::vector<PromptSource> &sources, std::vector<Prompt> &prompts);

// One prompt per line; that of an empty line has no tokens. `path` "-" is standard input. A carriage return before the
// end of a line is dropped.
Status readLines(const talc_model *model, const std::string &path, std::vector<Prompt> &prompts);

}  // namespace talc::program
