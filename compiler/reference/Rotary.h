// SPDX-License-Identifier: Apache-2.0
// The angles by which rotary embeddings rotate pairs of features.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include <vector>

namespace talc::reference {

// Cosines, then sines, of the angles at a position, times the scaling's amplitude if `amplified`; see
// #talc.rotary_table. `scaling` may be null.
std::vector<double> rotaryRow(int64_t rotary, double base, mlir::Attribute scaling, int64_t position,
                              bool amplified = true);

}  // namespace talc::reference
