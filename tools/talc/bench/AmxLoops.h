// SPDX-License-Identifier: Apache-2.0
// Loops for the matrix registers of AMX.
#pragma once

#include "tools/talc/bench/PeakLoops.h"

namespace talc::bench {

extern const PeakLoop amxBf16, amxInt8;

}  // namespace talc::bench
