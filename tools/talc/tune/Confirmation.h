// SPDX-License-Identifier: Apache-2.0
// Which of the plans that were chosen stay, by times of the cost model's code, the same again, and code with all of
// them together.
#pragma once

#include "tools/talc/tune/Comparison.h"

#include <set>

namespace talc::tools {

struct Confirmation {
  std::map<std::string, double> kernels;  // what is left of their time, in the mean of steps
  std::map<std::string, double> steps;    // the same of whole steps, where plans that stay are a part of them
  std::set<std::string> dropped;          // kernels
  double spread = 0;                      // of whole steps of equal code, where it differs the most
};

// A plan stays if its kernel is faster in some kind of step and slower in none. Of all together, whole steps of a phase
// must be faster in some kind of step, and in none slower by 2 %, with certainty; else the half of the phase's plans
// that gains less is dropped, for the rest to be measured, or all if this was the `last` time. Empty `dropped`: what
// was measured is confirmed.
Confirmation confirmPlans(const std::vector<StepTimes> &times, const std::set<std::string> &changed, bool last);

}  // namespace talc::tools
