// SPDX-License-Identifier: Apache-2.0
// The frequencies by which rotary embeddings turn pairs of features.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include <vector>

namespace talc::reference {

// f_i for i in [0, rotary/2); see `talc.rope`. `scaling` may be null.
std::vector<double> rotaryFrequencies(int64_t rotary, double base, mlir::Attribute scaling);

}  // namespace talc::reference
