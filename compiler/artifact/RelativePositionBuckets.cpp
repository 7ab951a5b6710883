// SPDX-License-Identifier: Apache-2.0
// The buckets of T5's relative positions (arXiv 1910.10683), as Hugging Face's T5Attention assigns them.
//
// That program takes the logarithm of a float32, divides and multiplies in float32, and truncates. Edges of buckets are
// powers, where the exact quotient of the logarithms is an integer: there the last bit decides, and a table trained
// with that program wants its bucket. So this is computed in float32 as well; the logarithm is the nearest float32.
#include "compiler/artifact/RelativePositionBuckets.h"

#include <algorithm>
#include <cmath>

namespace talc {

std::vector<int32_t> relativePositionBuckets(int64_t length, int64_t buckets, bool bidirectional, int64_t maxDistance) {
  const int64_t sides = bidirectional ? 2 : 1, perSide = buckets / sides, exact = perSide / 2;
  const auto scale = static_cast<float>(std::log(static_cast<double>(maxDistance) / static_cast<double>(exact)));
  std::vector<int32_t> bySize(length);  // of distances that are not positive
  for (int64_t size = 0; size < length; ++size) {
    int64_t bucket = size;
    if (size >= exact) {
      float ratio = static_cast<float>(size) / static_cast<float>(exact);
      float position = static_cast<float>(std::log(static_cast<double>(ratio))) / scale;
      position *= static_cast<float>(perSide - exact);
      bucket = std::min(perSide - 1, exact + static_cast<int64_t>(position));
    }
    bySize[size] = static_cast<int32_t>(bucket);
  }
  std::vector<int32_t> result(bySize.rbegin(), bySize.rend());
  for (int64_t size = 1; size < length; ++size)
    result.push_back(bidirectional ? static_cast<int32_t>(perSide) + bySize[size] : bySize[0]);
  return result;
}

}  // namespace talc
