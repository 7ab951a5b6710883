// SPDX-License-Identifier: Apache-2.0
// Prints what the compiler counted of kernels that this machine cannot time: those for another architecture.
#pragma once

#include "tools/talc/bench/KernelTests.h"

namespace talc::bench {

// `proof`: what came of running the app under an emulator. `format`: md or one of formatRecords.
std::string formatCounts(const std::vector<PhaseResult> &phases, const KernelList &list, const std::string &proof,
                         const std::string &format);

}  // namespace talc::bench
