// SPDX-License-Identifier: Apache-2.0
// Warms up once, then repeats; filling the context up to the depth is not timed.
#include "tools/talc/bench/ModelTests.h"

#include "tools/talc/bench/Statistics.h"
#include "tools/talc/bench/Stopwatch.h"

#include <fmt/format.h>

namespace talc::bench {

std::string TestCase::name() const {
  std::string name = prompt > 0 ? fmt::format("pp{}", prompt) : fmt::format("tg{}", generated);
  if (depth > 0)
    name += fmt::format(" @ d{}", depth);
  return sequences > 1 ? name + fmt::format(" x {}", sequences) : name;
}

std::vector<StepShape> TestCase::steps() const {
  if (whole)
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
      found({test, currentTime(), {}, {}, {}, machine.profile().f32().operationsPerSecond, 0, 0, {}, {}}) {
  for (const StepShape &step : steps) {
    StepCosts costs = kernels.costs(step);
    found.costs.operations += costs.operations;
    found.costs.storedBytes += costs.storedBytes;
    for (const KernelEntry &kernel : kernels.kernels)
      if (kernel.runsIn(step))
        found.works.push_back(kernelWork(kernel, step, machine.profile()));
    found.costs.passedBytes += costs.passedBytes;
    found.maxStepStoredBytes = std::max(found.maxStepStoredBytes, costs.storedBytes);
  }
}

Status ModelTest::repeat() {
  if (Status status = run.fill(found.test.depth); status.failed())
    return status;
  Stopwatch watch(run.hostThreads());
  for (const StepShape &step : steps) {
    if (Status status = run.evaluate(step); status.failed())
      return status;
    threads += run.getSession().stepThreads();
    ++evaluations;
  }
  if (!found.peakOperations.empty())  // the first one warms up
    found.nanoseconds.push_back(static_cast<double>(std::max<int64_t>(watch.nanoseconds(), 1)));
  found.stepThreads = static_cast<double>(threads) / static_cast<double>(evaluations);
  found.peakOperations.push_back(machine.operationsPerSecond());
  found.peakBytes.push_back(machine.bytesPerSecond(found.maxStepStoredBytes));
  return {};
}

}  // namespace talc::bench
