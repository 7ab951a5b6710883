// SPDX-License-Identifier: Apache-2.0
// Positions in attention: the angles by which rotary embeddings rotate, and the buckets of relative attention biases.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include <vector>

namespace talc::reference {

// Cosines, then sines, of the angles at a position, times the scaling's amplitude if `amplified`; see
// #talc.rotary_table. `scaling` may be null.
std::vector<double> rotaryRow(int64_t rotary, double base, mlir::Attribute scaling, int64_t position,
                              bool amplified = true);

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
