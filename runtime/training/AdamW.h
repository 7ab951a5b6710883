// SPDX-License-Identifier: Apache-2.0
// The update rule of AdamW (arXiv 1711.05101), with the operations of PyTorch in their order:
//
//   g = gradient * min(1, clip / (norm + 1e-6))
//   w = w * (1 - rate * decay)
//   m = m + (1 - beta1) * (g - m)
//   v = v * beta2 + (1 - beta2) * g * g
//   w = w - rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
#pragma once

#include "runtime/talc_training.h"

#include <cstdint>

namespace talc {

// The sum of the squares of some gradients.
double sumSquares(const float *gradients, uint64_t count);

class AdamW {
public:
  // `norm`: of all gradients; `updates`: t, with this one. No setting stands for a default any more.
  AdamW(const talc_update_settings &settings, double norm, int64_t updates);

  // Changes parameters and moments, and sets the gradients to zero.
  void update(float *parameters, float *gradients, float *first, float *second, uint64_t count, bool decays) const;

private:
  float scale, decay, beta1, beta2, epsilon, stepSize, root;
};

}  // namespace talc
