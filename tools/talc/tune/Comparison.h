// SPDX-License-Identifier: Apache-2.0
// Decides whether code is faster than other code, from times of rounds in which both ran. Other load on the machine is
// part of every time, so the same code runs twice in each round: the difference of its times is the noise.
#pragma once

#include <map>
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

}  // namespace talc::tools
