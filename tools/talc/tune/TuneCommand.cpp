// SPDX-License-Identifier: Apache-2.0
// talc tune: declares its options.
#include "dialects/talc/formats/StateFormats.h"
#include "runtime/NearestWord.h"
#include "runtime/device/cpu/Cores.h"
#include "tools/talc/Commands.h"
#include "tools/talc/OptionWords.h"
#include "tools/talc/tune/Tune.h"

#include <cstdio>

namespace talc::tools {

static const char *const examples =
    R"(Tries other plans for the kernels of a model in steps of one token, of a few and of prompts, with all its weights, and
keeps what is faster in a record: a JSON object per kernel and processor. Results stay the same, bit for bit. talc compile
takes the record that lies beside the model, or --tuned=FILE. Ended early, or with more time, it goes on where it was; the
lines of two records may be joined.

Examples:
  talc tune gpt2                          two minutes, for as many threads as there are cores
  talc tune gpt2 --budget=600 -t 1        ten minutes, for one thread
  talc tune gpt2 --weights=bf16 -o my.jsonl; talc compile gpt2 --weights=bf16 --tuned=my.jsonl -o app)";

Action addTune(CLI::App &app, const std::string &programDirectory) {
  auto options = std::make_shared<TuneOptions>();
  options->compile.programDirectory = programDirectory;
  options->threads = usableCores();
  CLI::App *command = app.add_subcommand("tune", "find faster plans for a model's kernels by measuring");
  command->set_help_flag("-h,--help", "print this help");
  command->footer(examples);
  command->allow_extras();  // told with what may have been meant
  CompileOptions &model = options->compile;
  command->add_option("MODEL", model.model, "what talc compile is to compile")->required();
  command->add_option("--budget", options->budget, "seconds that it may take (default: 120)")
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("-t,--threads", options->threads, "threads of a step (default: the cores of this machine)")
      ->check(CLI::Range(1, 1024));
  command->add_option("-o,--output", options->record, "the record (default: the one beside MODEL)");
  command->add_option("--target", model.target, "native (default), or another that this machine runs");
  command->add_option("--weights", model.weights, "as for talc compile");
  command->add_option("--state", model.state, "as for talc compile")->check(oneOf(stateFormatNames()));
  command
      ->add_option("--random-weights", model.randomWeights,
                   "reproducible random weights from this seed; only config.json is needed")
      ->check(CLI::Range(int64_t(0), (int64_t(1) << 32) - 1));
  command->add_option("--max-seq", model.maxSequence, "as for talc compile; attention's kernels depend on it")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 30));
  command->add_option("--cache", model.cache, "as for talc compile");
  return [command, options] {
    if (command->remaining().empty())
      return tune(*options);
    std::string word = command->remaining().front();
    fprintf(stderr, "error[T0701]: talc tune: unknown option '%s'%s; see talc tune --help\n", word.c_str(),
            suggestion(word.substr(0, word.find('=')), optionNames(*command)).c_str());
    return static_cast<int>(wrongUsage);
  };
}

}  // namespace talc::tools
