// SPDX-License-Identifier: Apache-2.0
// A text before every input, which is its prefix: its tokens see each other, and those after it do not.
#pragma once

#include "runtime/program/Prompts.h"

namespace talc::program {

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
