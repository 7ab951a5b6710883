// SPDX-License-Identifier: Apache-2.0
// The angles by which talc.rope turns the pairs of a head per position.
#pragma once

#include "mlir/IR/Attributes.h"

#include <vector>

namespace talc {

// [rotary / 2], as talc.rope defines them. `scaling`: null, #talc.linear_scaling or #talc.llama3_scaling.
std::vector<double> rotaryFrequencies(double base, mlir::Attribute scaling, int64_t rotary);

}  // namespace talc
