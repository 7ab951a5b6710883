// SPDX-License-Identifier: Apache-2.0
// Combines the lists of options: depths, then sequences, then prompts and generated tokens. A test warms up once, then
// repeats; filling the context up to the depth is not timed.
#include "tools/talc/bench/ModelTests.h"

#include "runtime/device/cpu/Cores.h"
#include "tools/talc/bench/Timing.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc::bench {

std::string TestCase::name() const {
  std::string name = prompt > 0 ? fmt::format("pp{}", prompt) : fmt::format("tg{}", generated);
  if (depth > 0)
    name += fmt::format(" @ d{}", depth);
  return sequences > 1 ? name + fmt::format(" x {}", sequences) : name;
}

std::vector<StepShape> TestCase::steps() const {
  if (isEncode)
    return {{sequences, prompt, 0, source == 0, true, 0}};
  auto steps = prompt > 0 ? promptSteps(prompt, depth, batch, sequences) : generationSteps(generated, depth, sequences);
  for (StepShape &step : steps)
    step.source = source;
  return steps;
}

double TestResult::averageSeconds() const {
  return 1e-9 * mean(nanoseconds);
}

double TestResult::share(const Least &least) const {
  std::vector<double> shares;
  for (size_t i = 0; i < nanoseconds.size(); ++i) {
    auto between = [&](const std::vector<double> &rates) { return (rates[i] + rates[i + 1]) / 2; };
    shares.push_back(least(between(peakOperations), between(peakBytes)) / (1e-9 * nanoseconds[i]));
  }
  return median(shares);
}

double TestResult::peakShare() const {
  double computing = 0;
  for (const KernelWork &work : works)
    computing += work.computing;
  return share([&](double operations, double) { return computing * peakF32Rate / operations; });
}

double TestResult::readShare() const {
  return share([&](double, double bytes) { return costs.storedBytes / bytes; });
}

double TestResult::roofShare() const {
  return share([&](double operations, double bytes) {
    double seconds = 0;
    for (const KernelWork &work : works)
      seconds += work.minSeconds(bytes, peakF32Rate / operations);
    return seconds;
  });
}

std::vector<double> TestResult::tokensPerSecond() const {
  std::vector<double> rates;
  for (double sample : nanoseconds)
    rates.push_back(1e9 * static_cast<double>(test.tokens()) / sample);
  return rates;
}

static std::string currentTime() {
  time_t now = time(nullptr);
  tm parts;
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return text;
}

ModelTest::ModelTest(ModelRun &run, const KernelList &kernels, const TestCase &test, Machine &machine)
    : run(run), machine(machine), steps(test.steps()),
      testResult({test, currentTime(), {}, {}, {}, machine.profile().f32().operationsPerSecond, 0, 0, {}, {}}) {
  for (const StepShape &step : steps) {
    StepCosts costs = kernels.costs(step);
    testResult.costs.operations += costs.operations;
    testResult.costs.storedBytes += costs.storedBytes;
    for (const KernelEntry &kernel : kernels.kernels)
      if (kernel.runsIn(step))
        testResult.works.push_back(kernelWork(kernel, step, machine.profile()));
    testResult.costs.passedBytes += costs.passedBytes;
    testResult.maxStepStoredBytes = std::max(testResult.maxStepStoredBytes, costs.storedBytes);
  }
}

Status ModelTest::repeat() {
  if (Status status = run.fill(testResult.test.depth); status.failed())
    return status;
  Stopwatch watch(run.hostThreads());
  for (const StepShape &step : steps) {
    if (Status status = run.evaluate(step); status.failed())
      return status;
    threads += run.getSession().stepThreads();
    ++evaluations;
  }
  if (!testResult.peakOperations.empty())  // the first one warms up
    testResult.nanoseconds.push_back(static_cast<double>(std::max<int64_t>(watch.nanoseconds(), 1)));
  testResult.stepThreads = static_cast<double>(threads) / static_cast<double>(evaluations);
  testResult.peakOperations.push_back(machine.operationsPerSecond());
  testResult.peakBytes.push_back(machine.bytesPerSecond(testResult.maxStepStoredBytes));
  return {};
}

namespace {

class Planner {
public:
  Planner(const BenchOptions &options, const artifact::ModelInfo &info);
  TestPlan plan();

private:
  void addPrompts(int64_t depth, int64_t sequences);
  void addPrompt(int64_t prompt, int64_t depth, int64_t sequences, int64_t batch);
  void add(const TestCase &test);
  bool isKnown(const TestCase &test) const;
  // Empty if nothing speaks against the test.
  std::string obstacle(const TestCase &test) const;

  const BenchOptions &options;
  int64_t room, source;
  bool generates;
  std::vector<int64_t> generated;
  TestPlan result;
};

}  // namespace

Planner::Planner(const BenchOptions &options, const artifact::ModelInfo &info)
    : options(options), room(maxSequenceTokens(info)), source(sourceTokens(info)),
      generates(info.kind != static_cast<uint32_t>(artifact::ModelKind::Encoder)), generated(options.generated) {
  if (generated.empty() && generates)
    generated = {32};
}

std::string Planner::obstacle(const TestCase &test) const {
  if (test.generated > 0 && !generates)
    return "an encoder generates nothing";
  if (test.isEncode && test.depth > 0)
    return "an encoder takes whole texts, behind nothing else";
  if (test.depth + test.prompt + test.generated > room)
    return fmt::format("a sequence holds at most {} tokens", room);
  return "";
}

bool Planner::isKnown(const TestCase &test) const {
  return std::any_of(result.tests.begin(), result.tests.end(), [&](const TestCase &other) {
    return other.name() == test.name() && other.isEncode == test.isEncode &&
           (other.batch == test.batch || test.isEncode);
  });
}

void Planner::add(const TestCase &test) {
  if (test.tokens() == 0 || isKnown(test))
    return;
  if (std::string reason = obstacle(test); !reason.empty())
    result.leftOut.push_back(test.name() + ": " + reason);
  else
    result.tests.push_back(test);
}

void Planner::addPrompt(int64_t prompt, int64_t depth, int64_t sequences, int64_t batch) {
  bool begins = source > 0 && options.showsKernels();
  if (!begins || depth == 0)
    add({prompt, 0, depth, batch, sequences, 1, /*isEncode=*/!generates || source > 0, source});
  if (begins)
    add({prompt, 0, depth, batch, sequences, 1, /*isEncode=*/false, source});
}

void Planner::addPrompts(int64_t depth, int64_t sequences) {
  for (int64_t prompt : options.prompts)
    for (int64_t batch : options.batches)
      addPrompt(prompt, depth, sequences, batch);
  if (options.prompts.empty())
    for (int64_t usual : {128, 512})
      for (int64_t batch : options.batches)
        addPrompt(depth < room ? std::min(usual, room - depth) : usual, depth, sequences, batch);
}

TestPlan Planner::plan() {
  for (int64_t depth : options.depths)
    for (int64_t sequences : options.sequences) {
      addPrompts(depth, sequences);
      for (int64_t tokens : generated)
        add({0, tokens, depth, options.batches.front(), sequences, 1, false, source});
    }
  return std::move(result);
}

TestPlan planTests(const BenchOptions &options, const artifact::ModelInfo &info) {
  return Planner(options, info).plan();
}

std::vector<int32_t> threadCounts(const std::vector<int64_t> &requested) {
  std::vector<int32_t> counts;
  for (int64_t number : requested) {
    int32_t count = std::min(static_cast<int32_t>(number), threadLimit());
    if (std::find(counts.begin(), counts.end(), count) == counts.end())
      counts.push_back(count);
    if (count < number)
      fmt::print(stderr, "warning: {} threads: this process may use {}\n", number, count);
  }
  return counts;
}

}  // namespace talc::bench
