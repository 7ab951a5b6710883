// SPDX-License-Identifier: Apache-2.0
// Times of kernels in steps of a model, of several candidates in turn.
#pragma once

#include "tools/talc/bench/KernelTests.h"
#include "tools/talc/tune/CandidateFile.h"

#include <map>
#include <string>
#include <vector>

namespace talc::tools {

// Of one kernel: for each kind of step that it is a part of the time of every candidate relative to the first.
using Ratios = std::map<std::string, std::vector<double>>;

class Measurements {
public:
  Measurements(const bench::KernelList &list, const bench::MachineProfile &machine) : list(list), machine(machine) {}

  // Evaluates steps of all kinds with every candidate of a file, round by round, so that a disturbance hits all alike.
  Status measure(const CandidateFile &file, size_t candidates, int64_t rounds);

  // By the name of a kernel; and its seconds with the first candidate.
  const std::map<std::string, Ratios> &ratios() const { return ofKernels; }
  double seconds(const std::string &kernel, const std::string &step) const;

private:
  struct Step {
    std::string name;
    bench::StepShape shape;
  };

  std::vector<Step> steps() const;
  void add(const Step &step, const std::vector<bench::PhaseResult> &results);

  const bench::KernelList &list;
  const bench::MachineProfile &machine;
  std::map<std::string, Ratios> ofKernels;
  std::map<std::pair<std::string, std::string>, double> firsts;
};

}  // namespace talc::tools
