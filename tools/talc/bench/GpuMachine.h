// SPDX-License-Identifier: Apache-2.0
// What a GPU can do at most, measured there by kernels that talc compiles for it: a long chain of multiplications and
// additions of each number, and one that only reads and writes. GPUs issue a multiply-add as fast as either. Where a
// large contraction of 16-bit weights is faster than that, there are instructions for it, and what it reaches is the
// roof of its like.
#pragma once

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/MachineProfile.h"

namespace talc::bench {

// `target`: what code for the device is made for.
Status measureGpu(const BenchOptions &options, const std::string &target, std::unique_ptr<Machine> &machine);

// Returns the description of a device (DeviceInfo), which is empty if no device has this name.
struct DeviceDescription {
  std::string description, emulation;
};
DeviceDescription describeDevice(const std::string &device);

}  // namespace talc::bench
