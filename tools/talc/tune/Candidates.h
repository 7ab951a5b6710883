// SPDX-License-Identifier: Apache-2.0
// The plans that talc tune tries for a kernel. Each changes a few tuning parameters of the cost model's plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace talc::tools {

using TuningParameters = std::map<std::string, int64_t>;

// A kernel that has a plan.
struct TunableKernel {
  std::string name, digest;
  TuningParameters plan;  // of the cost model
  bool oneRow;            // whether the kernel computes one row; else it takes any number
};

// Returns the same list for equal kernels, with the most promising plans first. Plans that the cost model considers
// slow are left out: tiles with more accumulators than registers, or too few to keep the multiply-adds busy. No plan
// changes block_keys, which changes bits of results. `halide` says whether Halide is available.
std::vector<TuningParameters> planCandidates(const TunableKernel &kernel, bool halide);

}  // namespace talc::tools
