// SPDX-License-Identifier: Apache-2.0
// Decides which chosen plans stay, from times of the cost model's code, the same code again, and code with all plans.
#pragma once

#include "tools/talc/tune/Comparison.h"

#include <set>

namespace talc::tools {

struct Confirmation {
  std::map<std::string, double> kernels;  // time ratios, averaged over steps
  std::map<std::string, double> steps;    // time ratios of whole steps with plans that stay
  std::set<std::string> dropped;          // kernels
  double spread = 0;                      // the largest noise of whole steps
};

// A plan stays if its kernel is faster in some kind of step and slower in none. With all plans together, whole steps of
// an entry must be faster in some kind of step, and in none slower by 2 %, with confidence. Otherwise the half of the
// entry's plans with smaller gains is dropped and the rest measured again, or all are dropped if this was the `last`
// time. The plans are confirmed if `dropped` is empty.
Confirmation confirmPlans(const std::vector<StepTimes> &times, const std::set<std::string> &changed, bool last);

}  // namespace talc::tools
