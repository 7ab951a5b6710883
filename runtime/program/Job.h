// SPDX-License-Identifier: Apache-2.0
// What a run is to do, and what it tells afterwards.
#pragma once

#include "runtime/program/Inputs.h"
#include "runtime/program/Printer.h"

namespace talc::program {

// What a run took.
struct Timing {
  size_t promptTokens = 0, decodedTokens = 0;
  double promptSeconds = 0, decodeSeconds = 0;
  uint64_t mostState = 0;  // bytes, of what was seen between steps
};

// A text that ended for want of room.
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
  // Prompts are printed before their continuations.
  bool echoes() const { return options.echo && !translates() && !fromFile && !options.usesIds(); }
  // An input's place, for messages.
  std::string placeOf(size_t input) const;
  // How the generated text begins.
  std::vector<int32_t> beginning(const Prompt &prompt) const;
  // Takes the inputs that are there; `waits`: one at least, unless no more come. Those without tokens have empty
  // results.
  Status fetch(bool waits) const;
  Status finishEmpty() const;
};

}  // namespace talc::program
