// SPDX-License-Identifier: Apache-2.0
// Sums over predictions.
#pragma once

#include "tools/talc/perplexity/Perplexity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace talc::perplexity {

// Numbers, of which mean and standard error are known in the end.
class Mean {
public:
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  Estimate estimate() const {
    if (count == 0)
      return {};
    double mean = sum / count, variance = squares / count - mean * mean;
    return {mean, count > 1 && variance > 0 ? std::sqrt(variance / (count - 1)) : 0};
  }

private:
  double count = 0, sum = 0, squares = 0;
};

// The logarithms of the probabilities that logits stand for.
inline void logProbabilities(const float *logits, size_t width, std::vector<double> &result) {
  double maxLogit = *std::max_element(logits, logits + width), sum = 0;
  for (size_t i = 0; i < width; ++i)
    sum += std::exp(logits[i] - maxLogit);
  double log = maxLogit + std::log(sum);
  result.resize(width);
  for (size_t i = 0; i < width; ++i)
    result[i] = logits[i] - log;
}

// Sum of p * ln(p / q); never below zero but for rounding.
inline double divergence(const std::vector<double> &p, const std::vector<double> &q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i)
    if (double probability = std::exp(p[i]); probability > 0)
      sum += probability * (p[i] - q[i]);
  return std::max(sum, 0.0);
}

// |x - y| / |y|
inline double relativeError(const float *x, const float *y, size_t count) {
  double noise = 0, signal = 0;
  for (size_t i = 0; i < count; ++i) {
    double difference = static_cast<double>(x[i]) - y[i];
    noise += difference * difference;
    signal += static_cast<double>(y[i]) * y[i];
  }
  return noise == 0 ? 0 : std::sqrt(noise / signal);
}

inline size_t likeliest(const std::vector<double> &probabilities) {
  return std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
}

}  // namespace talc::perplexity
