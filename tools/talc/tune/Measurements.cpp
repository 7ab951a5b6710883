// SPDX-License-Identifier: Apache-2.0
// The steps are those of a model that serves: one token, a few (batches, speculation), and prompts.
#include "tools/talc/tune/Measurements.h"

#include <fmt/format.h>

namespace talc::tools {

using namespace bench;

std::vector<Measurements::Step> Measurements::steps() const {
  std::vector<Step> all;
  int64_t room = list.facts.maxSequence, source = sourceTokens(list.facts);
  bool encodes = list.encoder || source > 0;
  for (int64_t rows : {8, 32, 128}) {
    if (encodes && rows <= room)
      all.push_back({fmt::format("{} tokens of a text", rows), {1, rows, 0, true, true, source}});
    if (!list.encoder && rows <= room)
      all.push_back({fmt::format("{} tokens", rows), {1, rows, 0, true, false, source}});
  }
  int64_t past = std::min<int64_t>(64, room - 1);
  if (!list.encoder && past > 0)
    all.push_back({"1 token", {1, 1, past, true, false, source}});
  return all;
}

void Measurements::add(const Step &step, const std::vector<PhaseResult> &results) {
  std::map<std::string, std::vector<double>> seconds;  // of several places that call a kernel the sum
  for (size_t i = 0; i < results.size(); ++i)
    for (const KernelResult &kernel : results[i].kernels) {
      auto &times = seconds[kernel.kernel->name];
      times.resize(results.size());
      times[i] += kernel.time.total();
    }
  for (auto &[name, times] : seconds) {
    if (times.front() <= 0)
      continue;
    firsts[{name, step.name}] = times.front();
    std::vector<double> &ratios = ofKernels[name][step.name];
    for (double time : times)
      ratios.push_back(time / times.front());
  }
}

Status Measurements::measure(const CandidateFile &file, size_t candidates, int64_t rounds) {
  std::vector<Mapping> views(candidates);
  std::vector<ModelRun> runs(candidates);
  ofKernels.clear();
  for (size_t i = 0; i < candidates; ++i) {
    if (Status status = CandidateFile::open(file.path(), i, views[i], runs[i]); status.failed())
      return status;
    if (Status status = runs[i].start(machine.threads, 1); status.failed())
      return status;
  }
  for (const Step &step : steps()) {
    std::vector<std::unique_ptr<KernelSampler>> samplers;
    for (ModelRun &run : runs)
      samplers.push_back(std::make_unique<KernelSampler>(run, list, step.shape));
    for (int64_t round = 0; round <= rounds; ++round)  // the first one warms up
      for (auto &sampler : samplers)
        if (Status status = sampler->sample(); status.failed())
          return status;
    std::vector<PhaseResult> results;
    for (auto &sampler : samplers)
      results.push_back(sampler->result(step.name, machine));
    add(step, results);
  }
  return {};
}

double Measurements::seconds(const std::string &kernel, const std::string &step) const {
  auto found = firsts.find({kernel, step});
  return found == firsts.end() ? 0 : found->second;
}

}  // namespace talc::tools
