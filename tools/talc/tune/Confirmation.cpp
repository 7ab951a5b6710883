// SPDX-License-Identifier: Apache-2.0
// Codes 0 and 1 are the cost model's, code 2 has the plans. Phases are programs of their own, so each is decided alone.
#include "tools/talc/tune/Comparison.h"

#include <algorithm>
#include <cmath>

namespace talc::tools {

static constexpr double slowest = 1.02;

static Comparison compare(const std::vector<Seconds> &codes) {
  return compare(codes[0], codes[1], codes[2]);
}

// Whether a kernel's own time says that its plan is good; `ratio` becomes what is left of it.
static bool isFaster(const std::vector<StepTimes> &times, const std::string &kernel, double &ratio) {
  bool faster = false, slower = false;
  double sum = 0, steps = 0;
  for (const StepTimes &step : times)
    if (auto it = step.kernels.find(kernel); it != step.kernels.end()) {
      Comparison compared = compare(it->second);
      faster |= compared.faster;
      slower |= compared.slower;
      sum += std::log(compared.ratio);
      ++steps;
    }
  ratio = steps > 0 ? std::exp(sum / steps) : 1;
  return faster && !slower && ratio < 1;
}

namespace {

// Steps of a phase, and the plans that they run.
struct PhaseTimes {
  std::vector<const StepTimes *> steps;
  std::set<std::string> plans;

  bool isFaster() const {
    bool faster = false, certain = true;
    for (const StepTimes *step : steps) {
      Comparison compared = compare(step->total);
      faster |= compared.faster;
      certain &= compared.highest < slowest;
    }
    return faster && certain;
  }

  // Returns the share of the step times that the plan saves.
  double gain(const std::string &kernel) const {
    double sum = 0;
    for (const StepTimes *step : steps)
      if (auto it = step->kernels.find(kernel); it != step->kernels.end())
        sum += (1 - compare(it->second).ratio) * medianInterval(it->second[0]).middle /
               medianInterval(step->total[0]).middle;
    return sum;
  }

  std::vector<std::string> weakest(bool all) const {
    std::vector<std::string> ordered(plans.begin(), plans.end());
    std::sort(ordered.begin(), ordered.end(), [&](const std::string &a, const std::string &b) {
      return std::make_pair(gain(a), a) < std::make_pair(gain(b), b);
    });
    ordered.resize(all ? ordered.size() : (ordered.size() + 1) / 2);
    return ordered;
  }
};

}  // namespace

Confirmation confirmPlans(const std::vector<StepTimes> &times, const std::set<std::string> &changed, bool last) {
  Confirmation result;
  std::map<std::string, PhaseTimes> phases;
  for (const StepTimes &step : times) {
    phases[step.phase].steps.push_back(&step);
    result.spread = std::max(result.spread, compare(step.total).spread);
  }
  for (const std::string &kernel : changed) {
    bool stays = isFaster(times, kernel, result.kernels[kernel]);
    if (!stays)
      result.dropped.insert(kernel);
    for (auto &[name, phase] : phases)
      for (const StepTimes *step : phase.steps)
        if (step->kernels.count(kernel) > 0)
          phase.plans.insert(kernel);
  }
  const std::set<std::string> alone = result.dropped;
  for (auto &[name, phase] : phases) {
    bool faster = phase.isFaster();
    size_t before = phase.plans.size();
    for (const std::string &kernel : alone)
      phase.plans.erase(kernel);
    // Others were measured with them: the rest has its own chance.
    if (!faster && (last || phase.plans.size() == before))
      for (const std::string &kernel : phase.weakest(last))
        result.dropped.insert(kernel);
    if (faster && !phase.plans.empty())
      for (const StepTimes *step : phase.steps)
        result.steps[step->name] = compare(step->total).ratio;
  }
  return result;
}

}  // namespace talc::tools
