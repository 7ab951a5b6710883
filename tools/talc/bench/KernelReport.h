// SPDX-License-Identifier: Apache-2.0
// Prints what was measured of kernels.
#pragma once

#include "tools/talc/bench/KernelTests.h"

namespace talc::bench {

struct KernelTable {
  MachineProfile machine;
  std::vector<PhaseResult> phases;
};

// `format`: md or one of formatRecords.
std::string formatKernelRows(const std::vector<KernelTable> &rows, const std::string &format);

}  // namespace talc::bench
