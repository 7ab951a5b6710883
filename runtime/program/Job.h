// SPDX-License-Identifier: Apache-2.0
// A run of the program: its inputs and options, what evaluates them, and what is reported afterwards.
#pragma once

#include "runtime/program/input/Inputs.h"
#include "runtime/program/output/Printer.h"
#include "runtime/program/output/VectorFile.h"

namespace talc::program {

// Tokens and times of a run.
struct Timing {
  size_t promptTokens = 0, decodedTokens = 0;
  double promptSeconds = 0, decodeSeconds = 0;
  uint64_t maxKvBytes = 0;  // held between steps
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
  const talc_embedding_info &embeddings;
  const TextRules &rules;
  VectorFile &vectors;

  bool translates() const { return info.kind == TALC_MODEL_ENCODER_DECODER; }
  // Whether prompts are printed before their continuations.
  bool echoes() const { return options.echo && !options.json && !translates() && !fromFile && !options.usesIds(); }
  // The name of an input in messages.
  std::string inputName(size_t input) const;
  // The beginning of the JSON of an input: its index, and its text if it has one.
  std::string jsonHead(size_t input) const;
  // The beginning of the generated text.
  std::vector<int32_t> beginning(const Prompt &prompt) const;
  // Takes the inputs that have come; with `waits` at least one, unless no more come. Those without tokens have empty
  // results.
  Status fetch(bool waits) const;
  Status finishEmpty() const;
};

// Generates text, or prints the output of an encoder.
Status evaluateInputs(const talc_model *model, const talc_model_info &info, const Options &options, double loadSeconds);

// Formats a line for each device.
std::string devicesText();

// Formats the text of --info: lines for people, or JSON.
std::string manifestText(const talc_model *model, bool asJson);

// Formats the text of --memory, whose figures are exact.
std::string memoryText(const talc_model *model, const talc_model_info &info, int32_t threads);

// Formats which texts ended because the capacity was full; empty when none did.
std::string endingText(const Job &job);

// Formats the line after a run.
std::string summaryText(const Job &job, const talc_session *session, double loadSeconds, double runSeconds);

}  // namespace talc::program
