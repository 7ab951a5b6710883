// SPDX-License-Identifier: Apache-2.0
// The angles by which talc.rope turns the pairs of a head per position, and what long-context models make of them.
#pragma once

#include "mlir/IR/Attributes.h"

#include <vector>

namespace talc {

// As talc.rope defines them. `scaling` may be null.
class RotaryFrequencies {
public:
  RotaryFrequencies(double base, mlir::Attribute scaling, int64_t rotary);

  // [rotary / 2] of the token at a position.
  std::vector<double> at(int64_t position) const;
  // What cosines and sines are multiplied by.
  double amplitude() const;

private:
  std::vector<double> ofBase(double base) const;

  double base;
  mlir::Attribute scaling;
  int64_t rotary;
  std::vector<double> usual;  // of all positions that do not have their own
};

}  // namespace talc
