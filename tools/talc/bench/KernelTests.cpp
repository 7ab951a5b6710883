// SPDX-License-Identifier: Apache-2.0
// Samples steps with a clock at every mark, and takes medians. The time between two marks belongs to what the later one
// ends: a kernel, or waiting after the kernel before.
#include "tools/talc/bench/KernelTests.h"

#include "tools/talc/bench/MachineProfile.h"
#include "tools/talc/bench/Timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace talc::bench {

// Returns the shortest time of reading the clock in some rounds, which is part of every interval.
static int64_t costOfReading(clockid_t clock, int64_t rounds) {
  constexpr int64_t readings = 20;
  int64_t shortest = INT64_MAX;
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t start = Stopwatch::now(clock), end = start;
    for (int64_t i = 0; i < readings; ++i)
      end = Stopwatch::now(clock);
    shortest = std::min(shortest, (end - start) / readings);
  }
  return shortest;
}

KernelTimes::KernelTimes(int32_t count, size_t kernels)
    : clock(Stopwatch::clockFor(count)), reading(costOfReading(clock, 50)), threads(count) {
  for (Thread &thread : threads) {
    thread.working.resize(kernels);
    thread.waiting.resize(kernels);
    thread.barriers.resize(kernels);
  }
}

void KernelTimes::attach(Session &session) {
  // A cost that was measured while another thread of the core worked may exceed the time of the shortest kernels.
  reading = std::min(reading, costOfReading(clock, 5));
  session.measure(mark, this);
}

void KernelTimes::mark(void *state, int64_t number, int64_t kernel) {
  auto *times = static_cast<KernelTimes *>(state);
  Thread &thread = times->threads[number];
  int64_t time = Stopwatch::now(times->clock), passed = std::max<int64_t>(time - thread.last - times->reading, 0);
  ++thread.marks;
  thread.last = time;
  if (kernel >= 0 && kernel < static_cast<int64_t>(thread.working.size())) {
    thread.working[kernel] += passed;
    thread.kernel = kernel;
  } else if (kernel == Workspace::barrierPassed && thread.kernel >= 0) {
    thread.waiting[thread.kernel] += passed;
    ++thread.barriers[thread.kernel];
  } else if (kernel == Workspace::stepBegins) {
    thread.kernel = -1;
  }
}

double KernelTimes::takeOverhead() {
  int64_t marks = 0;
  for (Thread &thread : threads)
    marks = std::max(marks, std::exchange(thread.marks, 0));
  return 1e-9 * static_cast<double>(marks * reading);
}

static std::vector<KernelTime> collectTimes(const std::vector<LaunchTime> &launches, size_t kernels) {
  std::vector<KernelTime> result(kernels);
  for (size_t i = 0; i < launches.size(); ++i) {
    const LaunchTime &launch = launches[i];
    if (static_cast<uint64_t>(launch.kernel) >= kernels)
      continue;
    KernelTime &time = result[static_cast<size_t>(launch.kernel)];
    time.working += launch.end - launch.begin;
    time.waiting += i + 1 < launches.size() ? std::max(launches[i + 1].begin - launch.end, 0.0) : 0;
    ++time.barriers;
  }
  return result;
}

std::vector<KernelTime> KernelTimes::takeStep(const Session &session) {
  std::vector<KernelTime> marks = takeMarks();
  return session.launchTimes().empty() ? marks : collectTimes(session.launchTimes(), marks.size());
}

std::vector<KernelTime> KernelTimes::takeMarks() {
  std::vector<KernelTime> result(threads.front().working.size());
  auto scale = 1e-9 / static_cast<double>(threads.size());
  for (Thread &thread : threads)
    for (size_t i = 0; i < result.size(); ++i) {
      result[i].working += scale * static_cast<double>(thread.working[i]);
      result[i].waiting += scale * static_cast<double>(thread.waiting[i]);
      result[i].barriers = thread.barriers[i];
      thread.working[i] = thread.waiting[i] = thread.barriers[i] = 0;
    }
  return result;
}

double PhaseResult::kernelSeconds() const {
  double sum = 0;
  for (const KernelResult &kernel : kernels)
    sum += kernel.time.total();
  return sum;
}

double PhaseResult::roofSeconds() const {
  double sum = 0;
  for (const KernelResult &kernel : kernels)
    sum += kernel.roofSeconds;
  return sum;
}

std::string PhaseResult::label() const {
  return kernels.empty() ? name : name + ", " + kernels.front().kernel->phase;
}

std::string PhaseResult::title() const {
  int64_t tokens = step.tokens * step.sequences;
  std::string text = fmt::format("{}: one step of {} token{}", label(), tokens, tokens == 1 ? "" : "s");
  if (step.isEncode)
    return text;
  text += fmt::format(" behind {}", step.past);
  return step.source > 0 ? text + fmt::format(", and a source of {}", step.source) : text;
}

StepShape kernelStep(const TestCase &test) {
  std::vector<StepShape> steps = test.steps();
  StepShape step = test.prompt > 0 ? steps.front() : steps[steps.size() / 2];
  step.hasOutputs |= !step.isEncode;
  return step;
}

PhaseResult countKernels(const KernelList &list, const StepShape &step, const std::string &name) {
  PhaseResult result = {name, step, 0, {}, list.costs(step)};
  for (const KernelEntry &kernel : list.kernels) {
    if (!kernel.runsIn(step))
      continue;
    StepCosts call = kernel.callCosts(step);
    auto calls = static_cast<double>(kernel.calls);
    StepCosts costs = {calls * call.operations, calls * call.storedBytes, calls * call.passedBytes};
    result.kernels.push_back({&kernel, {}, costs, 0, ""});
  }
  return result;
}

static void compareWithRoof(KernelResult &result, const StepShape &step, const StepCosts &all,
                            const MachineProfile &machine) {
  const MemoryLevel &stored = machine.levelHolding(all.storedBytes);
  KernelWork work = kernelWork(*result.kernel, step, machine);
  double reading = work.storedBytes / stored.bytesPerSecond;
  result.roofSeconds = work.minSeconds(stored.bytesPerSecond);
  result.limit = work.computing >= reading + work.passing ? machine.peakFor(*result.kernel).roof
                 : reading >= work.passing                ? stored.name
                                                          : work.passedBy;
}

KernelSampler::KernelSampler(ModelRun &run, const KernelList &list, const StepShape &step)
    : run(run), list(list), step(step), times(run.getSession().threads(), list.kernels.size()),
      samples(list.kernels.size()) {}

Status KernelSampler::sample() {
  if (Status status = run.fill(step.past); status.failed())
    return status;
  return sampleStep();
}

Status KernelSampler::sampleNext() {
  constexpr int64_t mostBehind = 32;
  int64_t end = std::min(step.past + mostBehind, maxSequenceTokens(run.info())), length = run.getSession().length(0);
  if (!step.decode() || step.past + 2 > end)
    return sample();
  if (length < step.past || length + 2 > end)
    if (Status status = run.fill(step.past); status.failed())
      return status;
  if (Status status = run.evaluate(step); status.failed())
    return status;
  return sampleStep();
}

Status KernelSampler::sampleStep() {
  times.attach(run.getSession());
  Stopwatch watch(run.hostThreads());
  Status status = run.evaluate(step);
  double passed = std::max(watch.seconds() - times.takeOverhead(), 0.0);
  times.detach(run.getSession());
  std::vector<KernelTime> kernels = times.takeStep(run.getSession());
  if (status.failed() || !std::exchange(warm, true))
    return status;
  seconds.push_back(passed);
  for (size_t i = 0; i < kernels.size(); ++i) {
    samples[i].working.push_back(kernels[i].working);
    samples[i].waiting.push_back(kernels[i].waiting);
    samples[i].barriers = kernels[i].barriers;
  }
  return {};
}

std::vector<double> KernelSampler::kernelSeconds(size_t kernel) const {
  std::vector<double> sums(samples[kernel].working);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += samples[kernel].waiting[i];
  return sums;
}

PhaseResult KernelSampler::result(const std::string &name, const MachineProfile &machine) const {
  PhaseResult result = countKernels(list, step, name);
  result.stepSeconds = median(seconds);
  for (KernelResult &kernel : result.kernels) {
    const Samples &those = samples[kernel.kernel - list.kernels.data()];
    kernel.time = {median(those.working), median(those.waiting), those.barriers};
    compareWithRoof(kernel, step, result.costs, machine);
  }
  std::sort(result.kernels.begin(), result.kernels.end(),
            [](const KernelResult &a, const KernelResult &b) { return a.time.total() > b.time.total(); });
  return result;
}

Status runKernelTest(ModelRun &run, const KernelList &list, const MachineProfile &machine, const TestCase &test,
                     int64_t repetitions, PhaseResult &result) {
  KernelSampler sampler(run, list, kernelStep(test));
  for (int64_t i = 0; i <= repetitions; ++i)
    if (Status status = sampler.sample(); status.failed())
      return status;
  result = sampler.result(test.name(), machine);
  return {};
}

}  // namespace talc::bench
