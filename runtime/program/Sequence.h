// SPDX-License-Identifier: Apache-2.0
// One prompt and its continuation while they are evaluated.
#pragma once

#include "runtime/program/Handles.h"
#include "runtime/program/Prompts.h"

namespace talc::program {

enum class Ending { None, EndToken, Count, StateFull };

class Sequence {
public:
  // `streams`: the tokenizer turns new tokens into text. The sampler starts with the prompt accepted.
  Status start(const talc_model *model, const talc_sampling &sampling, Prompt prompt, bool streams);

  // Samples the next token. `limit`: how many may be generated in all; `capacity`: how many tokens a state can hold.
  Status extend(const float *logits, size_t limit, size_t capacity, bool ignoreEnd);

  // Text that became complete since the last call.
  std::string takeText();

  const Prompt &prompt() const { return given; }
  const std::vector<int32_t> &generated() const { return made; }
  Ending ending() const { return end; }
  bool ended() const { return end != Ending::None; }

  size_t evaluated = 0;  // tokens of the prompt

private:
  Status stream(int32_t id);
  Status finishStream();

  const talc_model *model = nullptr;
  Prompt given;
  std::vector<int32_t> made;
  Ending end = Ending::None;
  SamplerHandle sampler;
  TextStreamHandle words;
  std::string pending;
};

}  // namespace talc::program
