// SPDX-License-Identifier: Apache-2.0
// talc bench: measures the machine, then the model or its kernels, for every number of threads.
#include "tools/talc/ExitStatus.h"
#include "tools/talc/bench/KernelReport.h"
#include "tools/talc/bench/MachineUse.h"
#include "tools/talc/bench/ModelReport.h"
#include "tools/talc/bench/OpCompiler.h"
#include "tools/talc/bench/OpTest.h"
#include "tools/talc/bench/Progress.h"
#include "tools/talc/bench/Roofline.h"
#include "tools/talc/bench/TestPlan.h"

#include <fmt/format.h>

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
  Progress progress;
  MachineUseMeter meter;

  explicit Bench(const BenchOptions &options) : options(options) {}
  Status open(const std::string &path);
  Status measure(const std::vector<TestCase> &tests, int32_t threads);
  Status measure(const TestCase &test, Machine &machine);
  Status measure(const OpSpec &spec, int32_t threads, OpResult &result);
  bool someShareExceeds() const;
};

}  // namespace

// A line of text that says everything already.
static Status statusOf(const std::string &line, talc_status code = TALC_ERROR_USAGE) {
  talc_error error = {code, ""};
  snprintf(error.text, sizeof(error.text), "%s", line.c_str());
  return Status::from(code, error);
}

Status Bench::open(const std::string &path) {
  if (Status status = run.open(path, options.hugePages); status.failed())
    return status;
  return readKernels(path, list);
}

Status Bench::measure(const TestCase &test, Machine &machine) {
  progress.show(test.name(), test.threads);
  if (Status status = run.start(test.threads, test.sequences); status.failed())
    return status;
  if (!options.showsKernels()) {
    models.push_back({{}, machine.profile()});
    return runTest(run, list, test, options.repetitions, machine, models.back().result);
  }
  kernels.back().phases.emplace_back();
  return runKernelTest(run, list, machine.profile(), test, options.repetitions, kernels.back().phases.back());
}

Status Bench::measure(const std::vector<TestCase> &tests, int32_t threads) {
  std::unique_ptr<Machine> machine;
  progress.show("the machine", threads);
  if (Status status = Machine::create(threads, machine); status.failed())
    return status;
  kernels.push_back({machine->profile(), {}});
  for (TestCase test : tests) {
    test.threads = threads;
    if (Status status = measure(test, *machine); status.failed())
      return status;
  }
  return {};
}

Status Bench::measure(const OpSpec &spec, int32_t threads, OpResult &result) {
  std::unique_ptr<Machine> machine;
  progress.show("the machine", threads);
  if (Status status = Machine::create(threads, machine); status.failed())
    return status;
  progress.show(spec.text, threads);
  if (Status status = runOp(run, list, spec, machine->profile(), options.repetitions, result); status.failed())
    return status;
  kernels.push_back({machine->profile(), {result.phase(list)}});
  return {};
}

bool Bench::someShareExceeds() const {
  for (const ModelRow &row : models)
    if (exceeds(row.result.peakShare()) || exceeds(row.result.readShare()))
      return true;
  for (const KernelRows &row : kernels)
    for (const PhaseResult &phase : row.phases)
      for (const KernelResult &kernel : phase.kernels)
        if (exceeds(kernel.share()))
          return true;
  return false;
}

// Below the table, or beside what programs read.
static void addNotes(const Bench &bench, std::string &text) {
  std::string notes = notesOn(bench.meter.read(), bench.someShareExceeds());
  for (const ModelRow &row : bench.models)
    if (const TestResult &result = row.result; result.stepThreads < 0.95 * result.test.threads)
      notes += fmt::format("\n{} with {} threads: steps ran on {:.1f} of them, since more did not pay.\n",
                           result.test.name(), result.test.threads, result.stepThreads);
  if (bench.options.output == "md")
    text += notes;
  else
    fputs(notes.c_str(), stderr);
}

static Status writeFile(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file)
    return {};
  return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

static Status drawKernels(const Bench &bench) {
  const std::string &path = bench.options.roofline;
  return path.empty() ? Status() : writeFile(path, drawRoofline(bench.kernels, bench.list.model));
}

// Compiles the op, and measures it in an artifact of its own.
static Status measureOp(const BenchOptions &options, std::string &text) {
  OpSpec spec;
  if (std::string problem = parseOp(options.op, options.depths.front(), spec); !problem.empty())
    return statusOf("error[T0701]: talc bench: " + problem + "; see talc bench --help");
  Bench bench(options);
  bench.progress.show("compiling " + spec.text);
  CompiledOp compiled;
  if (std::string error = compiled.compile(spec, options); !error.empty())
    return statusOf(error, TALC_ERROR_ARGUMENT);
  if (Status status = bench.open(compiled.path()); status.failed())
    return status;
  std::vector<OpResult> results;
  for (int32_t threads : threadCounts(options.threads)) {
    results.emplace_back();
    if (Status status = bench.measure(spec, threads, results.back()); status.failed())
      return status;
  }
  text = formatOpResults(results, options.output);
  addNotes(bench, text);
  return drawKernels(bench);
}

// The tests of the options; those that are not possible are warned of.
static Status planTests(const Bench &bench, std::vector<TestCase> &tests) {
  TestPlan plan = planTests(bench.options, bench.run);
  for (const std::string &line : plan.leftOut)
    fprintf(stderr, "warning: %s: left out: %s\n", bench.options.app.c_str(), line.c_str());
  tests = std::move(plan.tests);
  return tests.empty() ? statusOf("error[T0701]: talc bench: no test is left of -p, -n and -d; see talc bench --help")
                       : Status();
}

static Status measureModel(const BenchOptions &options, std::string &text) {
  Bench bench(options);
  if (Status status = bench.open(options.app); status.failed())
    return status;
  std::vector<TestCase> tests;
  if (Status status = planTests(bench, tests); status.failed())
    return status;
  for (int32_t threads : threadCounts(options.threads))
    if (Status status = bench.measure(tests, threads); status.failed())
      return status;
  text = bench.models.empty() ? formatKernelRows(bench.kernels, options.output)
                              : formatModelRows(bench.models, bench.list, bench.run, options.app, options.output);
  addNotes(bench, text);
  return drawKernels(bench);
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
