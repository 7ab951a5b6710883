// SPDX-License-Identifier: Apache-2.0
// Probabilities are computed in double precision.
#include "runtime/program/ClassScores.h"

#include "runtime/program/output/JsonText.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace talc::program {

static double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

std::vector<double> softmax(const float *logits, size_t count) {
  std::vector<double> result(count);
  double highest = *std::max_element(logits, logits + count), sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += result[i] = std::exp(logits[i] - highest);
  for (double &value : result)
    value /= sum;
  return result;
}

std::vector<double> classScores(talc_class_scores kind, const float *logits, size_t count) {
  if (kind == TALC_SCORES_SOFTMAX && count > 1)
    return softmax(logits, count);
  std::vector<double> result(logits, logits + count);
  if (kind != TALC_SCORES_VALUES)
    std::transform(result.begin(), result.end(), result.begin(), sigmoid);
  return result;
}

void appendScore(std::string &text, double score, bool isProbability) {
  if (!isProbability)
    return appendNumber(text, static_cast<float>(score));
  constexpr int usualDigits = 4, significant = 6, maxDigits = 20;
  double distance = std::min(score, 1 - score);
  int digits = distance > 0 ? significant - 1 - static_cast<int>(std::floor(std::log10(distance))) : usualDigits;
  char number[64];
  snprintf(number, sizeof(number), "%.*f", std::clamp(digits, usualDigits, maxDigits), score);
  text += number;
}

}  // namespace talc::program
