// SPDX-License-Identifier: Apache-2.0
// Turns texts into token ids, and puts a text before all of them.
#pragma once

#include "runtime/program/options/Options.h"

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

// A text before every input, which is its prefix: its tokens see each other, and those after it do not.
class PrefixText {
public:
  // Tokenizes the text. Without one nothing is put before inputs.
  Status read(const talc_model *model, const std::optional<std::string> &text);

  // Puts the prefix before an input. What the tokenizer adds to the beginning of a text is there once.
  void putBefore(Prompt &input) const;

private:
  Prompt prefix;
  std::vector<int32_t> added;
};

}  // namespace talc::program
