// SPDX-License-Identifier: Apache-2.0
// The command line of an artifact.
#pragma once

#include "runtime/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace talc::program {

enum class Action { Generate, Tokenize, Detokenize, Memory, Version, Help };

// One prompt. Text from a file or standard input is read later.
struct PromptSource {
  enum Kind { Text, File, Ids } kind;
  std::string text;          // the text, or the file's path; "-": standard input
  std::vector<int32_t> ids;  // of kind Ids
};

struct Options {
  Action action = Action::Generate;
  std::string model;  // empty: the artifact that carries the program
  std::vector<PromptSource> prompts;
  std::string logitsFile;  // empty: none
  int32_t threads = 0;     // 0: default
  bool ignoreEnd = false, echo = true, quiet = false, skipCheck = false;
  std::optional<int32_t> tokens;  // -n

  // Given on the command line; else the model's own.
  std::optional<float> temperature, topP, minP, repeatPenalty;
  std::optional<int32_t> topK;
  uint64_t seed = 0;

  bool usesIds() const { return !prompts.empty() && prompts.front().kind == PromptSource::Ids; }
};

// Fails with TALC_ERROR_USAGE.
Status parseOptions(int count, char **arguments, Options &options);

// The text of --help.
std::string helpText(const std::string &program);

}  // namespace talc::program
