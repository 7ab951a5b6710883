// SPDX-License-Identifier: Apache-2.0
// The steps are those of a model that serves: one token, a few (batches, speculation), and prompts.
#include "tools/talc/tune/Measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace talc::tools {

using namespace bench;

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The shortest first: what they leave of the time is for the others.
std::vector<Measurements::Step> Measurements::steps() const {
  std::vector<Step> all;
  int64_t room = list.facts.maxSequence, source = sourceTokens(list.facts);
  bool encodes = list.encoder || source > 0;
  int64_t past = std::min<int64_t>(64, room - 1);
  if (!list.encoder && past > 0)
    all.push_back({"1 token", {1, 1, past, true, false, source}});
  for (int64_t rows : {8, 32, 128}) {
    if (encodes && rows <= room)
      all.push_back({fmt::format("{} tokens of a text", rows), {1, rows, 0, true, true, source}});
    if (!list.encoder && rows <= room)
      all.push_back({fmt::format("{} tokens", rows), {1, rows, 0, true, false, source}});
  }
  return all;
}

// The code at a place of a round. Over 2 * count rounds each stands at each place as often, and before each other one
// as often as behind it.
static size_t codeAt(int64_t round, size_t place, size_t count) {
  auto first = static_cast<size_t>(round / 2) % count;
  return (first + (round % 2 == 0 ? place : count - place)) % count;
}

Status Measurements::sampleRounds(Samplers &samplers, Limits limits) const {
  // Threads of the code before spin for a while where others would run.
  constexpr std::chrono::milliseconds untilThreadsSleep(2);
  Clock::time_point begin = Clock::now();
  for (int64_t round = -1; round < limits.rounds; ++round) {  // the first one warms up
    double longest = since(begin) / static_cast<double>(round + 1);
    if (round > 0 && since(begin) + longest > limits.seconds)
      break;
    for (size_t place = 0; place < samplers.size(); ++place) {
      if (machine.threads > 1)
        std::this_thread::sleep_for(untilThreadsSleep);
      KernelSampler &sampler = *samplers[codeAt(std::max<int64_t>(round, 0), place, samplers.size())];
      if (Status status = sampler.sampleNext(); status.failed())
        return status;
    }
  }
  return {};
}

StepTimes Measurements::collect(const Step &step, const Samplers &samplers) const {
  StepTimes times = {step.name, "", {}, {}};
  for (const auto &sampler : samplers)
    times.total.push_back(sampler->stepSeconds());
  for (size_t i = 0; i < list.kernels.size(); ++i) {
    const KernelEntry &kernel = list.kernels[i];
    if (!kernel.runsIn(step.shape))
      continue;
    times.phase = kernel.phase;
    std::vector<Seconds> &codes = times.kernels[kernel.name];  // of several places that call it the sum
    codes.resize(samplers.size());
    for (size_t code = 0; code < samplers.size(); ++code) {
      Seconds here = samplers[code]->kernelSeconds(i);
      codes[code].resize(here.size());
      std::transform(here.begin(), here.end(), codes[code].begin(), codes[code].begin(), std::plus<>());
    }
  }
  return times;
}

Status Measurements::measure(CandidateFile &file, const std::vector<size_t> &codes, Limits limits) {
  std::vector<ModelRun> runs(codes.size());
  all.clear();
  if (Status status = file.open(codes, machine.device.empty() ? "cpu" : machine.device, runs); status.failed())
    return status;
  for (ModelRun &run : runs)
    if (Status status = run.start(std::max(machine.threads, 1), 1); status.failed())
      return status;
  Clock::time_point begin = Clock::now();
  std::vector<Step> kinds = steps();
  for (size_t i = 0; i < kinds.size(); ++i) {
    Samplers samplers;
    for (ModelRun &run : runs)
      samplers.push_back(std::make_unique<KernelSampler>(run, list, kinds[i].shape));
    double share = (limits.seconds - since(begin)) / static_cast<double>(kinds.size() - i);
    if (Status status = sampleRounds(samplers, {limits.rounds, share}); status.failed())
      return status;
    all.push_back(collect(kinds[i], samplers));
  }
  return {};
}

}  // namespace talc::tools
