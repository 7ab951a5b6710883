// SPDX-License-Identifier: Apache-2.0
// The formula of T5's buckets (arXiv 1910.10683), in the float32 arithmetic of Hugging Face's implementation.
#include "compiler/reference/Positions.h"

#include <cmath>

namespace talc::reference {

int64_t RelativePositionBuckets::row(int64_t distance) const {
  if (bidirectional)
    return (distance > 0 ? count : 0) + magnitude(std::abs(distance));
  return magnitude(distance > 0 ? 0 : -distance);
}

// The float32 that is nearest to ln x.
static float logarithm(float x) {
  return static_cast<float>(std::log(static_cast<double>(x)));
}

int64_t RelativePositionBuckets::magnitude(int64_t n) const {
  if (n < exact)
    return n;
  auto first = static_cast<float>(exact);
  auto range = static_cast<float>(std::log(static_cast<double>(longest) / static_cast<double>(exact)));
  float share = logarithm(static_cast<float>(n) / first) / range;
  auto above = static_cast<int64_t>(share * static_cast<float>(count - exact));
  return std::min(count - 1, exact + above);
}

}  // namespace talc::reference
