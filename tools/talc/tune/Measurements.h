// SPDX-License-Identifier: Apache-2.0
// Measures steps of a model and their kernels, with several codes in turn.
#pragma once

#include "tools/talc/bench/KernelTests.h"
#include "tools/talc/tune/CandidateFile.h"
#include "tools/talc/tune/Comparison.h"

#include <string>
#include <vector>

namespace talc::tools {

class Measurements {
public:
  // The maximum number of rounds for every kind of step, and of seconds in all.
  struct Limits {
    int64_t rounds;
    double seconds;
  };

  Measurements(const bench::KernelList &list, const bench::MachineProfile &machine) : list(list), machine(machine) {}

  // Evaluates steps of all kinds with these codes of a file, in ascending order; a code that is listed twice runs
  // twice. Every code runs first, and after each other code, equally often.
  Status measure(CandidateFile &file, const std::vector<size_t> &codes, Limits limits);

  const std::vector<StepTimes> &times() const { return all; }

private:
  struct Step {
    std::string name;
    bench::StepShape shape;
  };
  using Samplers = std::vector<std::unique_ptr<bench::KernelSampler>>;

  std::vector<Step> steps() const;
  Status sampleRounds(Samplers &samplers, Limits limits) const;
  StepTimes collect(const Step &step, const Samplers &samplers) const;

  const bench::KernelList &list;
  const bench::MachineProfile &machine;
  std::vector<StepTimes> all;
};

}  // namespace talc::tools
