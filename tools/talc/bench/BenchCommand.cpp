// SPDX-License-Identifier: Apache-2.0
// talc bench: declares its options and parses lists of values.
#include "dialects/talc/formats/StorageFormat.h"
#include "runtime/NearestWord.h"
#include "runtime/device/cpu/Cores.h"
#include "tools/talc/Commands.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/OpModel.h"

#include <cstdio>
#include <cstdlib>

namespace talc::tools {

static const char *const examples =
    R"(Lists are as in llama-bench: 128,512 or 1-4 or 64-512*2 or 0-512+128. Every combination is a test, run five times after
a warm-up. The machine's peaks of multiply-adds and its bandwidths are measured in the same process just before.

Examples:
  talc bench ./app                                    a prompt of 128 and 512 tokens, and 32 generated ones
  talc bench ./app -p 0 -n 64 -d 0,512 -t 1,2         generation at two depths, with one and two threads
  talc bench ./old ./new -t 1                         two models in turn, and how many times as fast the second is
  talc bench ./app --kernels --roofline app.svg       every kernel, and the share of its own roof that it reaches
  talc bench ./old ./new --kernels -p 128 -n 0        the kernels of both, test by test in turn
  talc bench ./app --device=cuda --kernels            on a GPU: each kernel by its clock, and the time between launches
  talc bench --op 'linear 128x768x2304' -t 1          one op alone, against the math libraries that are installed
  talc bench --op 'linear 128x768x2304 gelu' --generator=mlir,halide
  talc bench --op 'linear 1,8,128x4096x4096 f32,q4_0'  six ops: every size with every format
  talc bench --op 'linear 128x4096x4096 bf16' --compute=bf16
  talc bench --op 'attention 512x12x12x64 causal' -d 512
  talc bench --op 'linear 512x4096x4096 bf16' --device=cuda

Ops:
)";

namespace {

struct Lists {
  std::string prompts, generated;  // empty: the usual ones
  std::string depths = "0", batches = std::to_string(bench::defaultBatch), sequences = "1", threads;
};

}  // namespace

static bool parseNumber(const char *&at, int64_t &value) {
  char *end = nullptr;
  if (*at < '0' || *at > '9')
    return false;
  value = std::strtoll(at, &end, 10);
  at = end;
  return value <= (int64_t(1) << 30);
}

// "first-last", "first-last+step" or "first-last*factor", or one number.
static bool parseRange(const char *&at, std::vector<int64_t> &values) {
  int64_t first = 0, last = 0, step = 1;
  if (!parseNumber(at, first))
    return false;
  last = first;
  char kind = '+';
  if (*at == '-' && !parseNumber(++at, last))
    return false;
  if (*at == '+' || *at == '*') {
    kind = *at;
    if (!parseNumber(++at, step) || step < (kind == '*' ? 2 : 1) || (kind == '*' && first == 0))
      return false;
  }
  for (int64_t value = first; value <= last && values.size() < 1000; value = kind == '*' ? value * step : value + step)
    values.push_back(value);
  return true;
}

// Returns an empty list unless the text is a list of numbers that are at least `minValue`.
static std::vector<int64_t> parseList(const std::string &text, int64_t minValue) {
  std::vector<int64_t> values;
  const char *at = text.c_str();
  do {
    if (!parseRange(at, values))
      return {};
  } while (*at++ == ',');
  bool valid = at[-1] == '\0';
  for (int64_t value : values)
    valid &= value >= minValue;
  return valid ? values : std::vector<int64_t>();
}

// Returns an error for the first wrong list, or an empty text.
static std::string parseLists(const Lists &lists, bench::BenchOptions &options) {
  struct Entry {
    const char *option;
    const std::string &text;
    int64_t minValue, maxValue;
    std::vector<int64_t> &target;
  };
  const Entry entries[] = {{"-p", lists.prompts, 0, 1 << 30, options.prompts},
                           {"-n", lists.generated, 0, 1 << 30, options.generated},
                           {"-d", lists.depths, 0, 1 << 30, options.depths},
                           {"-b", lists.batches, 1, 1 << 30, options.batches},
                           {"--sequences", lists.sequences, 1, 65536, options.sequences},
                           {"-t", lists.threads, 1, 1024, options.threads}};
  for (const Entry &entry : entries) {
    if (entry.text.empty())
      continue;
    entry.target = parseList(entry.text, entry.minValue);
    bool valid = !entry.target.empty();
    for (int64_t value : entry.target)
      valid &= value <= entry.maxValue;
    if (!valid)
      return std::string(entry.option) + ": '" + entry.text + "' is not a list of numbers from " +
             std::to_string(entry.minValue) + " to " + std::to_string(entry.maxValue) + " such as 128,512 or 1-4";
  }
  return "";
}

// Every combination of these lists is a test.
static void declareLists(CLI::App &command, Lists &lists) {
  auto add = [&](const char *names, std::string &text, const char *meaning) {
    command.add_option(names, text, meaning)->type_name("LIST");
  };
  add("-p,--n-prompt", lists.prompts, "tokens of prompts (default: 128,512, as far as they fit); 0: none");
  add("-n,--n-gen", lists.generated, "generated tokens (default: 32); 0: none");
  add("-d,--n-depth", lists.depths, "tokens that the sequence has before the test (default: 0)");
  add("-b,--batch-size", lists.batches, "tokens of a prompt in one step (default: 2048)");
  add("--sequences", lists.sequences, "sequences side by side (default: 1)");
  add("-t,--threads", lists.threads, "threads (default: the cores that this process may use), at most one per CPU");
}

static CLI::App *declare(CLI::App &app, bench::BenchOptions &options, Lists &lists) {
  CLI::App *command = app.add_subcommand("bench", "measure a compiled model, its kernels, or one op");
  command->set_help_flag("-h,--help", "print this help");
  command->footer(examples + bench::describeOps());
  command->allow_extras();  // reported with a suggestion
  command->add_option("APP", options.apps, "the output of talc compile; several are measured in turn and compared");
  declareLists(*command, lists);
  command->add_option("-r,--repetitions", options.repetitions, "rounds after the warm-up (default: 5)")
      ->check(CLI::Range(1, 1000));
  command->add_option("-o,--output", options.output, "md (default), csv, json, jsonl, or sql")
      ->check(isMember({"md", "csv", "json", "jsonl", "sql"}));
  command->add_flag("!--no-legend", options.legend, "leave out what the columns of a table mean");
  command->add_flag("--huge-pages", options.hugePages,
                    "copy the weights into huge pages, as the program's --huge-pages");
  command->add_option(
      "--device", options.device,
      "GPU that runs the model or the op: cuda, cuda:N, vulkan or vulkan:N; its peaks are measured, too");
  command->add_flag("--kernels", options.kernels, "a row for every kernel instead of for the whole model");
  command->add_option("--roofline", options.roofline,
                      "draw the kernels below the machine's roofs: FILE.svg, FILE.html, or the data as FILE.json");
  command->add_option("--op", options.op, "measure one op instead of a model: see below");
  command->add_option("--weights", options.weights, "format of the op's weights, if it names none (default: f32)")
      ->check(isMember(formatNames()));
  command
      ->add_option("--compute", options.compute,
                   "arithmetic of the op's matmul, as for talc compile: f32, integers (default) or bf16")
      ->check(isMember(computeChoices()));
  command->add_option("--target", options.target, "target of the op (default: native, or the kind of --device)");
  command
      ->add_option("--generator", options.generators,
                   "generator of the op's loops: mlir (default), halide, or both with a comma, to compare them")
      ->delimiter(',')
      ->check(isMember({"mlir", "halide"}));
  command->add_option("--plan", options.plans, "override tuning parameters of the op, as for talc compile");
  return command;
}

// Returns an error for the first unknown option, or an empty text.
static std::string findUnknown(const CLI::App &command) {
  if (command.remaining().empty())
    return "";
  std::string word = command.remaining().front();
  return "unknown option '" + word + "'" + suggestion(word.substr(0, word.find('=')), optionNames(command));
}

// Returns why the options contradict each other, or an empty text.
static std::string contradiction(const CLI::App &command, const bench::BenchOptions &options) {
  if (options.apps.empty() == options.op.empty())
    return "expected either APP, the file that talc compile wrote, or --op";
  const std::vector<const char *> ofModels = {"-p", "-n", "-b", "--sequences", "--kernels", "--huge-pages"};
  const std::vector<const char *> ofOps = {"--weights", "--compute", "--target", "--generator", "--plan"};
  for (const char *option : options.op.empty() ? ofOps : ofModels)
    if (command.count(option) > 0)
      return std::string(option) + (options.op.empty() ? ": a compiled model has its own" : ": does not go with --op");
  if (std::string problem = checkGpuOptions(command, options.device); !problem.empty())
    return problem;
  if (!options.device.empty() && command.count("--generator") > 0)
    return "--generator: does not go with --device, whose code only talc's own passes make";
  return !options.op.empty() && options.depths.size() > 1 ? "-d: an op is measured at one depth" : "";
}

// An op that runs on a GPU is compiled for it by default.
static void chooseTarget(const CLI::App &command, bench::BenchOptions &options) {
  if (!options.op.empty() && !options.device.empty() && command.count("--target") == 0)
    options.target = gpuTarget(options.device);
}

Action addBench(CLI::App &app, const std::string &programDirectory) {
  auto options = std::make_shared<bench::BenchOptions>();
  auto lists = std::make_shared<Lists>();
  options->programDirectory = programDirectory;
  lists->threads = std::to_string(usableCores());
  CLI::App *command = declare(app, *options, *lists);
  return [command, options, lists] {
    std::string problem = findUnknown(*command);
    if (problem.empty())
      problem = parseLists(*lists, *options);
    if (problem.empty())
      problem = contradiction(*command, *options);
    if (problem.empty()) {
      chooseTarget(*command, *options);
      return bench::bench(*options);
    }
    fprintf(stderr, "error[T0701]: talc bench: %s; see talc bench --help\n", problem.c_str());
    return static_cast<int>(wrongUsage);
  };
}

}  // namespace talc::tools
