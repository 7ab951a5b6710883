// SPDX-License-Identifier: Apache-2.0
// talc bench: measures the machine, then models, kernels or an op, for every number of threads.
#include "tools/talc/ExitStatus.h"
#include "tools/talc/bench/Measurement.h"
#include "tools/talc/bench/ModelTests.h"
#include "tools/talc/bench/OpTest.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace talc::bench {

// Makes a status of a complete line of text.
static Status makeStatus(const std::string &line, talc_status code = TALC_ERROR_USAGE) {
  talc_error error = {code, ""};
  snprintf(error.text, sizeof(error.text), "%s", line.c_str());
  return Status::from(code, error);
}

// Counts the work of the op's kernel in the step that would be measured.
static Status countOp(Measurement &bench, const OpSpec &spec, std::string &text) {
  PhaseResult phase = countKernels(bench.app().list, opStep(spec, bench.app().list), spec.text);
  if (const KernelResult *opKernel = findKernel(phase, spec)) {
    phase.costs = opKernel->costs;
    phase.kernels = {KernelResult(*opKernel)};
  }
  return bench.count({phase}, text);
}

// Compiles the op with every generator, and opens the artifacts.
static Status openOp(Measurement &bench, const OpSpec &spec, std::vector<CompiledOp> &compiled) {
  bench.progress.show("compiling " + spec.text);
  for (size_t i = 0; i < compiled.size(); ++i) {
    if (std::string error = compiled[i].compile(spec, bench.options, bench.options.generators[i]); !error.empty())
      return makeStatus(error, TALC_ERROR_ARGUMENT);
    if (Status status = bench.open(compiled[i].path()); status.failed())
      return status;
  }
  return {};
}

// On a GPU one thread of the host submits the steps.
static std::vector<int32_t> hostThreads(const BenchOptions &options) {
  return options.device.empty() ? threadCounts(options.threads) : std::vector<int32_t>{1};
}

// Returns an error of usage, or nothing.
static Status parseOps(const BenchOptions &options, std::vector<OpSpec> &specs) {
  for (const std::string &text : expandOps(options.op)) {
    OpSpec &spec = specs.emplace_back();
    if (std::string problem = parseOp(text, options.depths.front(), spec); !problem.empty())
      return makeStatus("error[T0701]: talc bench: " + problem + "; see talc bench --help");
    if (!spec.weights.empty() && !options.weights.empty())
      return makeStatus("error[T0701]: talc bench: --op '" + text + "': its weights are " + spec.weights +
                        " already, so --weights does not go with it; see talc bench --help");
  }
  return {};
}

// An op, in artifacts of its own.
struct OpRun {
  OpSpec spec;
  Measurement bench;
  std::vector<CompiledOp> compiled;

  OpRun(OpSpec spec, const BenchOptions &options)
      : spec(std::move(spec)), bench(options), compiled(options.generators.size()) {}
};

static Status measureOp(OpRun &run, std::vector<OpResult> &results, std::string &text) {
  if (Status status = openOp(run.bench, run.spec, run.compiled); status.failed())
    return status;
  if (run.bench.onlyCounts()) {
    std::string counts;
    Status status = countOp(run.bench, run.spec, counts);
    text += counts;
    return status;
  }
  for (int32_t threads : hostThreads(run.bench.options)) {
    results.emplace_back();
    if (Status status = run.bench.measure(run.spec, threads, results.back()); status.failed())
      return status;
  }
  return {};
}

// Compiles the ops, and measures one after the other. Results refer to the runs.
static Status measureOps(const BenchOptions &options, std::string &text) {
  std::vector<OpSpec> specs;
  if (Status status = parseOps(options, specs); status.failed())
    return status;
  std::vector<std::unique_ptr<OpRun>> runs;
  std::vector<OpResult> results;
  for (OpSpec &spec : specs) {
    runs.push_back(std::make_unique<OpRun>(std::move(spec), options));
    if (Status status = measureOp(*runs.back(), results, text); status.failed())
      return status;
  }
  if (results.empty())
    return {};
  text += formatOpResults(results, options.output, options.legend);
  Measurement &first = runs.front()->bench;
  for (size_t i = 1; i < runs.size(); ++i)
    for (KernelTable &table : runs[i]->bench.kernels)
      first.kernels.push_back(std::move(table));
  first.addNotes(text);
  return first.drawKernels();
}

// Plans the tests that all apps can run, with a warning for each test that is left out.
static Status planTests(const Measurement &bench, std::vector<TestCase> &tests) {
  const App &first = *bench.apps.front();
  artifact::ModelInfo shared = first.list.facts;
  for (const auto &app : bench.apps) {
    if (app->list.facts.kind != shared.kind)
      return makeStatus("error[T0701]: talc bench: " + first.path + " and " + app->path +
                        " are models of different kinds, whose tests do not compare; see talc bench --help");
    shared.maxSequence = std::min(shared.maxSequence, app->list.facts.maxSequence);
  }
  TestPlan plan = planTests(bench.options, shared);
  for (const std::string &line : plan.leftOut)
    fprintf(stderr, "warning: %s: left out: %s\n", first.path.c_str(), line.c_str());
  tests = std::move(plan.tests);
  return tests.empty() ? makeStatus("error[T0701]: talc bench: no test is left of -p, -n and -d; see talc bench --help")
                       : Status();
}

static Status countModel(Measurement &bench, const std::vector<TestCase> &tests, std::string &text) {
  std::vector<PhaseResult> phases;
  for (const TestCase &test : tests)
    phases.push_back(countKernels(bench.app().list, kernelStep(test), test.name()));
  return bench.count(phases, text);
}

static Status measureModels(const BenchOptions &options, std::string &text) {
  Measurement bench(options);
  for (const std::string &path : options.apps)
    if (Status status = bench.open(path); status.failed())
      return status;
  std::vector<TestCase> tests;
  if (Status status = planTests(bench, tests); status.failed())
    return status;
  if (bench.onlyCounts())
    return countModel(bench, tests, text);
  for (int32_t threads : hostThreads(options))
    if (Status status = bench.measure(tests, threads); status.failed())
      return status;
  text = bench.models.empty() ? formatKernelRows(bench.kernels, options.output, options.legend)
                              : formatModelRows(bench.models, options.output, options.legend);
  bench.addNotes(text);
  return bench.drawKernels();
}

int bench(const BenchOptions &options) {
  std::string text;
  Status status = options.op.empty() ? measureModels(options, text) : measureOps(options, text);
  fputs(text.c_str(), stdout);
  if (!status.failed() && fflush(stdout) != 0)
    status = Status::failure(TALC_ERROR_OUTPUT, "standard output: cannot be written: %s", strerror(errno));
  if (!status.failed())
    return tools::success;
  fprintf(stderr, "%s\n", status.text().c_str());
  return status.code() == TALC_ERROR_USAGE ? tools::wrongUsage : tools::failed;
}

}  // namespace talc::bench
