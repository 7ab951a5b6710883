// SPDX-License-Identifier: Apache-2.0
// Mean, deviation and median of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace talc::bench {

inline double mean(const std::vector<double> &samples) {
  double sum = 0;
  for (double sample : samples)
    sum += sample;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

// Of a sample, so with n - 1 degrees of freedom; 0 for a single one.
inline double deviation(const std::vector<double> &samples) {
  if (samples.size() < 2)
    return 0;
  double center = mean(samples), sum = 0;
  for (double sample : samples)
    sum += (sample - center) * (sample - center);
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

inline double median(std::vector<double> samples) {
  if (samples.empty())
    return 0;
  auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace talc::bench
