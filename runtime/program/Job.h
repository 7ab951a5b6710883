// SPDX-License-Identifier: Apache-2.0
// The task of a run, and what it reports afterwards.
#pragma once

#include "runtime/program/Inputs.h"
#include "runtime/program/Printer.h"

namespace talc::program {

// Tokens and times of a run.
struct Timing {
  size_t promptTokens = 0, decodedTokens = 0;
  double promptSeconds = 0, decodeSeconds = 0;
  uint64_t mostState = 0;  // bytes, seen between steps
};

// A text that ended because the model's capacity was full.
struct CutText {
  size_t input, newTokens;
};

struct Job {
  const talc_model *model;
  const talc_model_info &info;
  const Options &options;
  Inputs &inputs;
  const bool fromFile;  // inputs are the lines of a file
  Printer &printer;
  Timing &timing;
  std::vector<CutText> &cut;

  bool translates() const { return info.kind == TALC_MODEL_ENCODER_DECODER; }
  // Whether prompts are printed before their continuations.
  bool echoes() const { return options.echo && !translates() && !fromFile && !options.usesIds(); }
  // The name of an input in messages.
  std::string inputName(size_t input) const;
  // The beginning of the generated text.
  std::vector<int32_t> beginning(const Prompt &prompt) const;
  // Takes the inputs that have come; with `waits` at least one, unless no more come. Those without tokens have empty
  // results.
  Status fetch(bool waits) const;
  Status finishEmpty() const;
};

}  // namespace talc::program
