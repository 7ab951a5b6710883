// SPDX-License-Identifier: Apache-2.0
// Which bucket of a table of relative attention biases a distance falls into.
#pragma once

#include "dialects/talc/TalcDialect.h"

namespace talc::reference {

// The buckets of #talc.relative_bias: short distances have their own, longer ones share them logarithmically.
// Checkpoints were trained with float32 logarithms, truncated; where a distance lies on the edge of a bucket, only that
// arithmetic gives the bucket that they mean.
class RelativePositionBuckets {
public:
  // `rows`: of the table.
  RelativePositionBuckets(RelativeBiasRecipeAttr recipe, int64_t rows)
      : bidirectional(recipe.getBidirectional()), count(bidirectional ? rows / 2 : rows), exact(count / 2),
        longest(recipe.getMaxDistance()) {}

  // Whether there are buckets of both sorts.
  bool valid() const { return exact > 0 && longest > exact; }
  // The row for a key position minus query position.
  int64_t of(int64_t distance) const;

private:
  int64_t magnitude(int64_t n) const;

  bool bidirectional;
  int64_t count, exact, longest;  // count: of a direction
};

}  // namespace talc::reference
