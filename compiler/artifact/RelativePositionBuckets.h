// SPDX-License-Identifier: Apache-2.0
// Which row of a table of relative attention biases holds the bias for a distance.
#pragma once

#include <cstdint>
#include <vector>

namespace talc {

// Of #talc.relative_bias: the bucket of key position - query position, from -(length - 1) to length - 1. `buckets` is
// the number of the table's rows. At least two buckets per direction, and maxDistance > half of them.
std::vector<int32_t> relativePositionBuckets(int64_t length, int64_t buckets, bool bidirectional, int64_t maxDistance);

}  // namespace talc
