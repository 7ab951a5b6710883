// SPDX-License-Identifier: Apache-2.0
// talc bench: measures the machine, then the model or its kernels, for every number of threads.
#include "runtime/parallel/Cores.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/bench/KernelReport.h"
#include "tools/talc/bench/ModelReport.h"
#include "tools/talc/bench/OpCompiler.h"
#include "tools/talc/bench/OpTest.h"
#include "tools/talc/bench/Roofline.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace talc::bench {

namespace {

// Everything that the tables are made from.
struct Bench {
  const BenchOptions &options;
  ModelRun run;
  KernelList list;
  std::vector<ModelRow> models;
  std::vector<KernelRows> kernels;

  Status open();
  Status measure(int32_t threads);
  Status measure(const TestCase &test, Machine &machine);
};

}  // namespace

// A line of text that says everything already.
static Status statusOf(const std::string &line, talc_status code = TALC_ERROR_USAGE) {
  talc_error error = {code, ""};
  snprintf(error.text, sizeof(error.text), "%s", line.c_str());
  return Status::from(code, error);
}

Status Bench::open() {
  if (Status status = run.open(options.app, options.hugePages); status.failed())
    return status;
  return readKernels(options.app, list);
}

Status Bench::measure(const TestCase &test, Machine &machine) {
  if (Status status = run.start(test.threads, test.sequences); status.failed())
    return status;
  if (!options.kernels && options.roofline.empty()) {
    models.push_back({{}, machine.profile()});
    return runTest(run, list, test, options.repetitions, machine, models.back().result);
  }
  kernels.back().phases.emplace_back();
  return runKernelTest(run, list, machine.profile(), test, options.repetitions, kernels.back().phases.back());
}

Status Bench::measure(int32_t threads) {
  std::unique_ptr<Machine> machine;
  threads = std::min(threads, threadLimit());  // as a session does
  if (Status status = Machine::create(threads, machine); status.failed())
    return status;
  kernels.push_back({machine->profile(), {}});
  std::vector<TestCase> tests = testCases(options, threads, run);
  if (tests.empty())
    return statusOf("error[T0701]: talc bench: " + options.app + " holds at most " +
                    std::to_string(run.info().maxSequence) + " tokens, so that no test of -p, -n and -d has room");
  for (const TestCase &test : tests)
    if (Status status = measure(test, *machine); status.failed())
      return status;
  return {};
}

static Status writeFile(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file)
    return {};
  return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

// Compiles the op, and measures it in an artifact of its own.
static Status measureOp(const BenchOptions &options, std::string &text) {
  OpSpec spec;
  if (std::string problem = parseOp(options.op, options.depths.front(), spec); !problem.empty())
    return statusOf("error[T0701]: talc bench: " + problem + "; see talc bench --help");
  CompiledOp compiled;
  if (std::string error = compiled.compile(spec, options); !error.empty())
    return statusOf(error, TALC_ERROR_ARGUMENT);
  Bench bench = {options, {}, {}, {}, {}};
  if (Status status = bench.run.open(compiled.path()); status.failed())
    return status;
  if (Status status = readKernels(compiled.path(), bench.list); status.failed())
    return status;
  std::vector<OpResult> results;
  for (int64_t threads : options.threads) {
    std::unique_ptr<Machine> machine;
    if (Status status = Machine::create(std::min(static_cast<int32_t>(threads), threadLimit()), machine);
        status.failed())
      return status;
    results.emplace_back();
    if (Status status = runOp(bench.run, bench.list, spec, machine->profile(), options.repetitions, results.back());
        status.failed())
      return status;
  }
  text = formatOpResults(results, options.output);
  return {};
}

static Status measureModel(const BenchOptions &options, std::string &text) {
  Bench bench = {options, {}, {}, {}, {}};
  if (Status status = bench.open(); status.failed())
    return status;
  for (int64_t threads : options.threads)
    if (Status status = bench.measure(static_cast<int32_t>(threads)); status.failed())
      return status;
  text = bench.models.empty() ? formatKernelRows(bench.kernels, options.output)
                              : formatModelRows(bench.models, bench.list, bench.run, options.app, options.output);
  return options.roofline.empty() ? Status()
                                  : writeFile(options.roofline, drawRoofline(bench.kernels, bench.list.model));
}

int bench(const BenchOptions &options) {
  std::string text;
  Status status = options.op.empty() ? measureModel(options, text) : measureOp(options, text);
  fputs(text.c_str(), stdout);
  if (!status.failed() && fflush(stdout) != 0)
    status = Status::failure(TALC_ERROR_OUTPUT, "standard output: cannot be written: %s", strerror(errno));
  if (!status.failed())
    return tools::success;
  fprintf(stderr, "%s\n", status.text().c_str());
  return status.code() == TALC_ERROR_USAGE ? tools::wrongUsage : tools::failed;
}

}  // namespace talc::bench
