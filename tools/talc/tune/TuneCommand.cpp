// SPDX-License-Identifier: Apache-2.0
// talc tune: declares its options.
#include "runtime/NearestWord.h"
#include "runtime/device/cpu/Cores.h"
#include "tools/talc/Commands.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/tune/Tune.h"

#include <cstdio>

namespace talc::tools {

static const char *const examples =
    R"(Tries other tuning parameters for the kernels of a model in steps of one token, of a few tokens and of prompts, with all
weights, and stores faster ones in a record: a JSON object per kernel and target. Results stay the same, bit for bit. At the
end all chosen plans are measured together; plans that do not gain more than the noise of equal code are dropped. talc
compile uses the record beside the model, or --tuned=FILE. A second run continues where the first one ended, and then starts
again from the beginning. The lines of two records may be joined.

Examples:
  talc tune gpt2                          two minutes, for as many threads as there are cores
  talc tune ./app --budget=600 -t 1       ten minutes, for one thread, the model and options that app was compiled from
  talc tune gpt2 --device=cuda            the kernels of the GPU
  talc tune gpt2 --weights=bf16 -o my.jsonl; talc compile gpt2 --weights=bf16 --tuned=my.jsonl -o app)";

// Steps on a GPU have no threads, and code for it is made by default.
static void chooseDevice(const CLI::App &command, TuneOptions &options) {
  if (options.device.empty())
    return;
  options.threads = 1;
  if (command.count("--target") == 0)
    options.compile.target = gpuTarget(options.device);
}

Action addTune(CLI::App &app, const std::string &programDirectory) {
  auto options = std::make_shared<TuneOptions>();
  options->compile.programDirectory = programDirectory;
  options->threads = usableCores();
  CLI::App *command = app.add_subcommand("tune", "find faster plans for a model's kernels by measuring");
  command->set_help_flag("-h,--help", "print this help");
  command->footer(examples);
  command->allow_extras();  // reported with a suggestion
  CompileOptions &model = options->compile;
  command->add_option("MODEL", model.model, "a model that talc compile can read, or a program that it wrote")
      ->required();
  command->add_option("--budget", options->budget, "time limit in seconds (default: 120)")->check(CLI::Range(1.0, 1e6));
  command->add_option("-t,--threads", options->threads, "threads of a step (default: the cores of this machine)")
      ->check(CLI::Range(1, 1024));
  command->add_option(
      "--device", options->device,
      "GPU whose plans are looked for: cuda, cuda:N, vulkan or vulkan:N; --target is nvptx or vulkan then");
  command->add_option("-o,--output", options->record, "the record (default: the one beside MODEL)");
  declareModelOptions(*command, model);
  command->add_option("--cache", model.cache, "as for talc compile");
  return [command, options] {
    options->compile.modelOptions = givenModelOptions(*command);
    if (command->remaining().empty()) {
      std::string problem = checkGpuOptions(*command, options->device);
      chooseDevice(*command, *options);
      if (!problem.empty())
        problem = "error[T0701]: talc tune: " + problem + "; see talc tune --help";
      else
        problem = resolveModelOrigin(*options);
      if (problem.empty())
        return tune(*options);
      fprintf(stderr, "%s\n", problem.c_str());
      return static_cast<int>(wrongUsage);
    }
    std::string word = command->remaining().front();
    fprintf(stderr, "error[T0701]: talc tune: unknown option '%s'%s; see talc tune --help\n", word.c_str(),
            suggestion(word.substr(0, word.find('=')), optionNames(*command)).c_str());
    return static_cast<int>(wrongUsage);
  };
}

}  // namespace talc::tools
