// SPDX-License-Identifier: Apache-2.0
// The angles by which talc.rope rotates the pairs of a head per position, and how long-context models scale them.
#pragma once

#include "mlir/IR/Attributes.h"

#include <vector>

namespace talc {

// As talc.rope defines them. `scaling` may be null.
class RotaryFrequencies {
public:
  RotaryFrequencies(double base, mlir::Attribute scaling, int64_t rotary);

  // The frequencies [rotary / 2] for a token at a position.
  std::vector<double> at(int64_t position) const;
  // The factor of cosines and sines.
  double amplitude() const;

private:
  std::vector<double> ofBase(double base) const;

  double base;
  mlir::Attribute scaling;
  int64_t rotary;
  std::vector<double> common;  // the frequencies of all positions that do not have their own
};

}  // namespace talc
