// SPDX-License-Identifier: Apache-2.0
// Declares the options of a model, and finds the ones that a command line has.
#include "tools/talc/ModelOptions.h"

#include "compiler/targets/Target.h"
#include "dialects/talc/formats/KvFormats.h"
#include "runtime/NearestWord.h"
#include "tools/talc/Commands.h"

#include <algorithm>
#include <map>

namespace talc::tools {

static const std::map<std::string, targets::Compute> computeWords = {
    {"bf16", targets::Compute::Bf16}, {"f32", targets::Compute::F32}, {"integers", targets::Compute::Integers}};

// Parses --weights. Returns an error with a suggestion, or an empty text.
static std::string setWeights(const std::string &text, FormatChoice &weights) {
  std::string error;
  if (auto choice = parseFormatChoice(text, error)) {
    weights = std::move(*choice);
    return "";
  }
  std::vector<std::string> names = formatNames();
  llvm::append_range(names, formatMixNames());
  names.emplace_back("checkpoint");
  return error + suggestion(text, names);
}

std::vector<std::string> computeChoices() {
  std::vector<std::string> words;
  for (const auto &[word, compute] : computeWords)
    words.push_back(word);
  return words;
}

targets::Compute parseCompute(const std::string &name) {
  return computeWords.at(name);
}

static void declareFormats(CLI::App &command, CompileOptions &options) {
  command
      .add_option(
          "--weights", options.weights.text,
          "storage format of weights, and of single ones by name, such as 'q4_k; lm_head=q6_k; *.down_proj=q8_0', or a "
          "size such as 4.5bit, for which talc chooses a format for each weight, or a mix of llama.cpp such as q4_k_m "
          "(default: checkpoint, as they are)")
      ->check([&options](const std::string &text) { return setWeights(text, options.weights); });
  command.add_option(
      "--calibrate", options.calibrate,
      "for --weights=SIZE: a text that the model reads first, to measure the importance of weights, or an "
      "importance matrix of llama.cpp (.gguf, .dat)");
  command.add_option("--state", options.state, "storage format of the KV cache: f32 (default), f16, bf16 or q8_0")
      ->check(isMember(kvFormatNames()));
  command.add_option("--cache-type-k", options.keyFormat, "the same for keys alone; -ctk is short for it")
      ->check(isMember(kvFormatNames()));
  command.add_option("--cache-type-v", options.valueFormat, "the same for values alone; -ctv is short for it")
      ->check(isMember(kvFormatNames()));
  command
      .add_option(
          "--compute", options.compute,
          "arithmetic of matmuls: f32; integers: int8 activations and integer dot products where weights are quantized "
          "and the CPU supports it (default); or bf16: also bf16 dot products where weights are bf16")
      ->check(isMember(computeChoices()));
}

void declareModelOptions(CLI::App &command, CompileOptions &options) {
  command.add_option("--target", options.target,
                     targets::targetNames() +
                         "; a list with commas puts code for each target into the artifact, all for one "
                         "CPU architecture");
  declareFormats(command, options);
  command
      .add_option("--random-weights", options.randomWeights,
                  "reproducible random weights from this seed; only config.json is needed")
      ->check(CLI::Range(int64_t(0), (int64_t(1) << 32) - 1));
  command
      .add_option("--max-seq", options.maxSequence,
                  "tokens that one sequence can hold (default: the model's own; with longrope its original context, "
                  "since all texts take the long factors beyond)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 30));
  command
      .add_option("--sinks", options.sinks,
                  "texts without end: their first N tokens stay beside the window that the rest moves through, the "
                  "model's own or of --max-seq tokens in all")
      ->check(CLI::Range(int64_t(1), int64_t(64)));
  command
      .add_option("--unused", options.unused,
                  "tensors that the model does not use, and keys of config.json that talc does not know: refuse "
                  "(default), or allow, with what is known")
      ->check(CLI::IsMember({"refuse", "allow"}));
}

std::vector<std::string> givenModelOptions(const CLI::App &command) {
  CLI::App own;
  CompileOptions ignored;
  declareModelOptions(own, ignored);
  std::vector<std::string> words;
  for (const std::string &name : optionNames(own))
    if (const CLI::Option *option = command.get_option_no_throw(name); option && option->count() > 0)
      words.push_back(name + "=" + option->results().back());
  return words;
}

std::string parseModelOptions(std::vector<std::string> words, CompileOptions &options) {
  CLI::App own;
  own.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // of a later command
  declareModelOptions(own, options);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    own.parse(words);
  } catch (const CLI::ParseError &error) {
    return error.what();
  }
  return "";
}

}  // namespace talc::tools
