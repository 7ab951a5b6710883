// SPDX-License-Identifier: Apache-2.0
// Draws kernels below the measured roofs of the machine. Source: Williams, Waterman, Patterson 2009, "Roofline".
#pragma once

#include "tools/talc/bench/KernelReport.h"

namespace talc::bench {

// An SVG picture with one panel for every number of threads.
std::string drawRoofline(const std::vector<KernelTable> &rows, const std::string &title);

}  // namespace talc::bench
