// SPDX-License-Identifier: Apache-2.0
// Decides whether code is faster than other code, from times of rounds in which both ran, and which plans stay. Other
// load on the machine is part of every time, so the same code runs twice in each round: the difference of its times is
// the noise.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace talc::tools {

using Seconds = std::vector<double>;  // one for each round

// Times of one kind of step, for each code in the order of their first runs.
struct StepTimes {
  std::string name, phase;
  std::vector<Seconds> total;                           // whole steps
  std::map<std::string, std::vector<Seconds>> kernels;  // by name, the sum of all calls
};

// A confidence interval of a median at 96 % or more, for any distribution. It is unbounded for fewer than six values.
struct Interval {
  double low, middle, high;
};

Interval medianInterval(Seconds values);

struct Comparison {
  double ratio = 1;     // changed time / time of the code that ran twice; the median of rounds
  bool faster = false;  // with confidence, and by more than the noise
  bool slower = false;  // the same
  double highest = 1;   // the upper end of the interval
  double spread = 0;    // the noise, relative to the time
};

// All times are of the same rounds.
Comparison compare(const Seconds &once, const Seconds &again, const Seconds &changed);

// ---- Which chosen plans stay, from times of the cost model's code, the same code again, and code with all plans

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
