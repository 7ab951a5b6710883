// SPDX-License-Identifier: Apache-2.0
// Measures the peaks of a GPU with kernels that talc compiles for it: a long chain of multiplications and additions of
// each number, and one that only reads and writes. GPUs issue a multiply-add as fast as either. If a large matmul of
// 16-bit weights is faster than the chain, the GPU has MMA instructions, and its rate is the roof of such matmuls.
#pragma once

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/MachineProfile.h"

namespace talc::bench {

// `target` is the target of the device's code.
Status measureGpu(const BenchOptions &options, const std::string &target, std::unique_ptr<Machine> &machine);

// Returns the description of a device (DeviceInfo), which is empty if no device has this name.
struct DeviceDescription {
  std::string description, emulation;
};
DeviceDescription describeDevice(const std::string &device);

}  // namespace talc::bench
