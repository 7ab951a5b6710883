// SPDX-License-Identifier: Apache-2.0
// Medians of ratios within rounds, with intervals by the sign test: disturbances have no distribution that could be
// assumed. Method: Conover, "Practical Nonparametric Statistics", confidence interval for a quantile.
#include "tools/talc/tune/Comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace talc::tools {

// Returns how many of the smallest and of the largest values lie outside the interval: each side misses 2 % at most.
static size_t outside(size_t count) {
  constexpr double missed = 0.02;
  double chance = std::pow(0.5, static_cast<double>(count)), sum = chance;  // that no value is below the median
  size_t skipped = 0;
  while (sum <= missed && skipped < count / 2) {
    ++skipped;
    chance *= static_cast<double>(count - skipped + 1) / static_cast<double>(skipped);
    sum += chance;
  }
  return skipped;
}

Interval medianInterval(Seconds values) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (values.empty())
    return {-infinite, 0, infinite};
  std::sort(values.begin(), values.end());
  size_t count = values.size(), skipped = outside(count);
  double middle = 0.5 * (values[(count - 1) / 2] + values[count / 2]);
  return skipped == 0 ? Interval{-infinite, middle, infinite}
                      : Interval{values[skipped - 1], middle, values[count - skipped]};
}

Comparison compare(const Seconds &once, const Seconds &again, const Seconds &changed) {
  size_t rounds = std::min({once.size(), again.size(), changed.size()});
  Seconds ratios, equal;  // logarithms
  for (size_t i = 0; i < rounds; ++i) {
    if (once[i] <= 0 || again[i] <= 0 || changed[i] <= 0)
      continue;
    equal.push_back(std::log(again[i] / once[i]));
    ratios.push_back(std::log(changed[i]) - 0.5 * std::log(once[i] * again[i]));
  }
  Interval change = medianInterval(ratios), noise = medianInterval(equal);
  double spread = std::max(-noise.low, noise.high);
  return {std::exp(change.middle), change.high<-spread, change.low> spread, std::exp(change.high)};
}

}  // namespace talc::tools
