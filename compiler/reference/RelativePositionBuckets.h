// SPDX-License-Identifier: Apache-2.0
// The bucket of a distance in a table of relative attention biases.
#pragma once

#include "dialects/talc/TalcDialect.h"

namespace talc::reference {

// The buckets of #talc.relative_bias: short distances have their own, longer ones share them logarithmically.
// Checkpoints were trained with float32 logarithms that are truncated; at the edge of a bucket only that arithmetic
// gives the right one.
class RelativePositionBuckets {
public:
  // `rows`: the rows of the table.
  RelativePositionBuckets(RelativeBiasRecipeAttr recipe, int64_t rows)
      : bidirectional(recipe.getBidirectional()), count(bidirectional ? rows / 2 : rows), exact(count / 2),
        longest(recipe.getMaxDistance()) {}

  // Whether there are exact and logarithmic buckets.
  bool valid() const { return exact > 0 && longest > exact; }
  // The row for a key position minus a query position.
  int64_t row(int64_t distance) const;

private:
  int64_t magnitude(int64_t n) const;

  bool bidirectional;
  int64_t count, exact, longest;  // count: the buckets of one direction
};

}  // namespace talc::reference
