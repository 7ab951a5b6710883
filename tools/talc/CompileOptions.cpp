// SPDX-License-Identifier: Apache-2.0
// talc compile: declares its options and checks how they go together.
#include "tools/talc/CompileOptions.h"

#include "compiler/targets/Target.h"
#include "tools/talc/Commands.h"
#include "tools/talc/MlirFlags.h"
#include "tools/talc/ModelOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cstdio>

namespace talc::tools {

static const char *const examples =
    R"(MODEL is a Hugging Face directory (config.json, *.safetensors, a tokenizer's files), a GGUF file, or an .mlir file in the
talc dialect.

Stages: import, optimize, lower, bufferize, schedule, codegen, package.

Examples:
  talc compile tales-gpt2 -o app                        for this machine
  talc compile tales-gpt2 -o app --weights=bf16         half the size
  talc compile tales-gpt2 -o app --target=x86-64-v3     for any machine with AVX2
  talc compile tales-gpt2 -o app --target=x86-64-v3,x86-64-v4    chosen when the program starts
  talc compile tales-gpt2 -o app --target=native,nvptx  also for NVIDIA GPUs
  talc compile tales-gpt2 -o libtales.so --emit=lib     a shared library, and tales.h
  talc compile tales-gpt2 -o tales.o --emit=object      an object to link with libtalc.a, and tales.h
  talc compile tales-gpt2 --stop-after=optimize         print the program after a stage
  talc compile tales-gpt2 -o app --dump=stages --time   keep the program after every stage
  talc compile tales-gpt2 -o app --inspect=app.html     page with graph, kernels, passes, assembly
  talc compile tales-gpt2 -o app '--remarks=.*'         what passes did or did not do, and why
  talc compile edited.mlir --start-from=lower -o app    continue from the output of --stop-after=optimize

MLIR's own flags work too, as one word each: --mlir-print-ir-after-all, --mlir-timing, --mlir-print-ir-tree-dir=DIR.)";

static const std::vector<std::string> stages = {"import",   "optimize", "lower",  "bufferize",
                                                "schedule", "codegen",  "package"};

// Declares the options about outputs and reports.
static void declareOutputs(CLI::App *command, CompileOptions &options) {
  std::vector<std::string> texts = targets::allListingKinds(), words = {"exe", "lib", "object", "code", "ir"};
  words.insert(words.end(), texts.begin(), texts.end());
  command
      ->add_option(
          "--emit", options.emit,
          "what to write: exe (default), lib, object; or code to read: code, ir, or a listing of the target: " +
              llvm::join(texts, ", "))
      ->check(isMember(words));
  command->add_option("--stop-after", options.stopAfter, "print the program after this stage and stop")
      ->check(isMember(stages));
  command->add_option("--start-from", options.startFrom, "MODEL is an .mlir file that is ready for this stage")
      ->check(isMember(stages));
  command->add_option("--dump", options.dump, "write the program after every stage to this directory");
  command->add_option(
      "--inspect", options.inspect,
      "write an HTML page, or its data to FILE.json: the model as a graph, kernels and their costs, what every pass "
      "changed and why");
  command->add_option(
      "--measure", options.measure,
      "measure the perplexity of this text and store it in the artifact; a quantized model is also compared with "
      "one that is not; --inspect shows the results");
  command->add_flag(
      "--train", options.trains,
      "compile a step of training in f32 in place of inference, for talc_training.h; talc train does that "
      "by itself");
  command->add_flag("--time", options.time,
                    "print the time of each stage and pass, and whether code came from the cache");
  command->add_option(
      "--remarks", options.remarks,
      "print what passes did or did not do, and why, for stages that match this regular expression (.* for all)");
  command->add_option("--cache", options.cache,
                      "directory of compiled functions, which are reused, or off (default: TALC_CACHE, "
                      "$XDG_CACHE_HOME/talc or ~/.cache/talc)");
}

static CLI::App *declare(CLI::App &app, CompileOptions &options) {
  CLI::App *command = app.add_subcommand("compile", "compile a model to one native file");
  command->set_help_flag("-h,--help", "print this help");
  command->footer(examples);
  command->allow_extras();  // MLIR's flags
  command->add_option("MODEL", options.model, "the model to compile")->required();
  command->add_option("-o,--output", options.output, "the file to write; without it listings go to standard output");
  declareModelOptions(*command, options);
  command
      ->add_option(
          "--generator", options.generator,
          "generator of kernel loops: mlir; halide for matmuls, attention and row-wise ops; or auto (default): "
          "mlir, or halide where talc tune or --plan says so")
      ->check(isMember({"auto", "halide", "mlir"}));
  command->add_option("--tuned", options.tuned,
                      "the tuning record of talc tune: a file, or off (default: the one beside MODEL, if it exists)");
  command->add_option(
      "--plan", options.plans,
      "override tuning parameters of single kernels, such as 'matmul_*: tile_rows = 4, block_rows = 96; "
      "attention_1: ...'; "
      "--remarks=schedule prints all parameters");
  command->add_option("--tokenizer", options.tokenizer,
                      "a tokenizer.json, or a directory with a tokenizer's files (default: MODEL's own)");
  declareOutputs(command, options);
  return command;
}

bool emitsText(const CompileOptions &options) {
  return options.emit == "ir" || llvm::is_contained(targets::allListingKinds(), options.emit);
}

// The same of options that a step of training would not heed.
static std::string trainingContradiction(const CompileOptions &options) {
  if (!options.trains)
    return "";
  if (options.weights.text != "checkpoint" || !options.measure.empty())
    return "--train: weights are trained in f32, and measured after that; leave out --weights and --measure";
  if (!(options.state + options.keyFormat + options.valueFormat).empty() || options.sinks)
    return "--train: steps of training keep no tokens; leave out --state, --cache-type-k, --cache-type-v and --sinks";
  return options.compute == "integers" ? "" : "--train: steps of training compute in f32; leave out --compute";
}

// Returns why the options contradict each other, or an empty text.
static std::string contradiction(const CompileOptions &options) {
  bool text = emitsText(options);
  bool stops = !options.stopAfter.empty() && options.stopAfter != "package";
  if (std::string problem = trainingContradiction(options); !problem.empty())
    return problem;
  if (!options.measure.empty() && (stops || (options.emit != "exe" && options.emit != "lib")))
    return "--measure: only a program or a library can be measured";
  if (!options.calibrate.empty() && options.weights.bits == 0)
    return "--calibrate is for --weights=SIZE, such as 4.5bit";
  if (stops && options.emit != "exe")
    return "--emit and --stop-after exclude each other";
  // That there is no such model comes first: who tries `talc compile gpt2` is told how to get it.
  if (options.output.empty() && !text && !stops && llvm::sys::fs::exists(options.model))
    return "-o is missing: the file to write";
  if (options.output == "-" && !text && !stops)
    return "-o -: only listings go to standard output; name the file to write";
  if (!stops || options.startFrom.empty())
    return "";
  auto place = [](const std::string &stage) { return std::find(stages.begin(), stages.end(), stage); };
  return place(options.stopAfter) < place(options.startFrom) ? "--stop-after comes before --start-from" : "";
}

Action addCompile(CLI::App &app, const std::string &programDirectory) {
  auto options = std::make_shared<CompileOptions>();
  options->programDirectory = programDirectory;
  CLI::App *command = declare(app, *options);
  return [command, options] {
    options->modelOptions = givenModelOptions(*command);
    options->mlirFlags = command->remaining();
    std::string problem = findUnknownFlag(options->mlirFlags, optionNames(*command));
    if (problem.empty())
      problem = contradiction(*options);
    if (problem.empty())
      problem = applyFlags(options->mlirFlags, options->target);
    if (problem.empty())
      return compile(*options);
    fprintf(stderr, "error[T0701]: talc compile: %s; see talc compile --help\n", problem.c_str());
    return static_cast<int>(wrongUsage);
  };
}

}  // namespace talc::tools
