// SPDX-License-Identifier: Apache-2.0
// The command line of an artifact.
#pragma once

#include "runtime/Status.h"
#include "runtime/program/options/SettingOverrides.h"

#include <optional>
#include <string>
#include <vector>

namespace talc::program {

enum class Action { Evaluate, Tokenize, Detokenize, Memory, Info, Devices, Version, Help };

// One prompt. Text from a file or standard input is read later.
struct PromptSource {
  enum Kind { Text, File, Ids } kind;
  std::string text;                      // the text, or the file's path; "-": standard input
  std::vector<int32_t> ids;              // of kind Ids
  std::optional<std::string> pair = {};  // the second text
  std::vector<int32_t> decoderIds = {};  // how the text of an encoder-decoder begins; empty: as the model says
};

// Sets of kinds of models.
enum : unsigned { forDecoders = 1, forEncoders = 2, forTranslators = 4 };

// An option that was given, and the models that have it.
struct GivenOption {
  std::string name;
  unsigned kinds;
};

struct Options {
  Action action = Action::Evaluate;
  std::string model;  // empty: the embedded artifact
  std::string device = "auto";
  std::vector<PromptSource> prompts;
  std::string inputFile, outputFile;   // empty: none
  std::string logitsFile, hiddenFile;  // empty: none
  int32_t threads = 0;                 // 0: default
  int32_t batch = 32;                  // lines of the input file that are evaluated together
  bool ignoreEnd = false, echo = true, quiet = false, skipCheck = false, hugePages = false;
  bool addsBegin = true;           // the tokenizer's begin tokens
  std::vector<std::string> stops;  // texts that end a text; none is empty
  std::optional<int32_t> prefix, top;
  std::optional<std::string> prefixText;
  std::optional<std::string> sourceLanguage, targetLanguage;
  std::optional<talc_embedding_pooling> pool;  // TALC_EMBEDDING_OWN: none, of each token
  std::optional<std::string> promptName;       // empty: no prompt
  bool normalizes = false;                     // embeddings
  bool json = false;                           // results are JSON
  std::optional<bool> readsJson;               // lines of the input file are JSON

  SettingOverrides settings;
  std::optional<uint64_t> seed;  // nothing: 0
  bool drawsSeed = false;        // the system chose it

  std::vector<GivenOption> givenOptions;

  bool usesIds() const { return !prompts.empty() && prompts.front().kind == PromptSource::Ids; }
  // Whether texts become embeddings, whatever else the model could make of them.
  bool asksEmbeddings() const { return pool || normalizes || writesVectors(); }
  // Whether the output file has the embeddings of all texts as one tensor.
  bool writesVectors() const;
  bool writesTensors() const { return !logitsFile.empty() || !hiddenFile.empty(); }
};

// Fails with TALC_ERROR_USAGE.
Status parseOptions(int count, char **arguments, Options &options);

// Whether this model has all options that were given. Fails with TALC_ERROR_USAGE.
Status checkKind(const Options &options, const talc_model_info &info);

// Returns why a model has no such option, which other kinds of models have; empty: it has it.
std::string findMismatch(const GivenOption &option, const talc_model_info &info);

// The set with the kind of a model.
unsigned kindSet(const talc_model_info &info);

// The text of --help: what the model can do, or without one (null) what any model can.
std::string helpText(const std::string &program, const talc_model_info *info);

}  // namespace talc::program
