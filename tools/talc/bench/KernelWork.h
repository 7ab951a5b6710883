// SPDX-License-Identifier: Apache-2.0
// What a kernel's operations and bytes take at least on a machine: its roof.
#pragma once

#include "tools/talc/bench/KernelList.h"
#include "tools/talc/bench/MachineProfile.h"

namespace talc::bench {

// All calls of a kernel in a step, in seconds and bytes.
struct KernelWork {
  double computing;      // the operations at the peak of such products
  double passing;        // the activations at the bandwidth of their level
  double storedBytes;    // of weights and states
  std::string passedBy;  // the level of the activations

  // What it takes at least, where weights and states are read at such a rate, and operations take so many times as
  // long.
  double minSeconds(double storedBytesPerSecond, double slowdown = 1) const;
};

KernelWork kernelWork(const KernelEntry &kernel, const StepShape &step, const MachineProfile &machine);

}  // namespace talc::bench
