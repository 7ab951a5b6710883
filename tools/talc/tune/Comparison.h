// SPDX-License-Identifier: Apache-2.0
// Whether code is faster than other code, from times of rounds in which both ran. What the machine does beside them is
// part of every figure, so the same code runs a second time in each round: its times say how far apart equal code lies.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace talc::tools {

using Seconds = std::vector<double>;  // one of each round

// Times of one kind of step, for each code in the order of their first runs.
struct StepTimes {
  std::string name, phase;
  std::vector<Seconds> whole;
  std::map<std::string, std::vector<Seconds>> kernels;  // by name: all calls together
};

// Contains a median with 96 % or more, whatever the distribution. Of fewer than six values it has no ends.
struct Interval {
  double low, middle, high;
};

Interval medianInterval(Seconds values);

struct Comparison {
  double ratio = 1;     // of the changed code's time by that of the code that ran twice; the median of rounds
  bool faster = false;  // certainly, and by more than equal code differs
  bool slower = false;  // the same
  double most = 1;      // a larger ratio is not possible, by the interval
  double spread = 0;    // how much equal code differs at most, as a part of its time
};

// All of the same rounds.
Comparison compare(const Seconds &once, const Seconds &again, const Seconds &changed);

}  // namespace talc::tools
