// SPDX-License-Identifier: Apache-2.0
// Scalar loops, which compilers turn into vectors; no operation depends on the others' order.
#include "runtime/training/AdamW.h"

#include <algorithm>
#include <cmath>

namespace talc {

double sumSquares(const float *gradients, uint64_t count) {
  constexpr uint64_t lanes = 8;
  double sums[lanes] = {};
  uint64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (uint64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += static_cast<double>(gradients[i + lane]) * gradients[i + lane];
  for (; i < count; ++i)
    sums[0] += static_cast<double>(gradients[i]) * gradients[i];
  double sum = 0;
  for (double part : sums)
    sum += part;
  return sum;
}

AdamW::AdamW(const talc_update_settings &settings, double norm, int64_t updates)
    : scale(1), decay(static_cast<float>(1 - static_cast<double>(settings.learning_rate) * settings.weight_decay)),
      beta1(settings.beta1), beta2(settings.beta2), epsilon(settings.epsilon) {
  auto count = static_cast<double>(updates);
  if (settings.clip > 0)
    scale = static_cast<float>(std::min(1.0, settings.clip / (norm + 1e-6)));
  stepSize = static_cast<float>(settings.learning_rate / (1 - std::pow(static_cast<double>(beta1), count)));
  root = static_cast<float>(std::sqrt(1 - std::pow(static_cast<double>(beta2), count)));
}

void AdamW::update(float *__restrict parameters, float *__restrict gradients, float *__restrict first,
                   float *__restrict second, uint64_t count, bool decays) const {
  const float factor = decays ? decay : 1, rest1 = 1 - beta1, rest2 = 1 - beta2;
  for (uint64_t i = 0; i < count; ++i) {
    float gradient = gradients[i] * scale;
    first[i] += rest1 * (gradient - first[i]);
    second[i] = second[i] * beta2 + rest2 * gradient * gradient;
    float denominator = std::sqrt(second[i]) / root + epsilon;
    parameters[i] = parameters[i] * factor - stepSize * (first[i] / denominator);
    gradients[i] = 0;
  }
}

}  // namespace talc
