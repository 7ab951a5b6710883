// SPDX-License-Identifier: Apache-2.0
// The plans that talc tune tries for a kernel: each changes a few numbers of the cost model's.
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
  TuningParameters plan;  // the cost model's
  bool oneRow;            // else any number
};

// The same list each time for equal kernels, the likeliest gains first. Left out is what the cost model says is slow:
// tiles with more sums than there are registers for, or too few to keep the multiply-adds busy. None changes
// block_keys, on which bits depend. `halide`: whether it is there.
std::vector<TuningParameters> planCandidates(const TunableKernel &kernel, bool halide);

}  // namespace talc::tools
