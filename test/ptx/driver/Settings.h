// SPDX-License-Identifier: Apache-2.0
// Settings of this driver, from environment variables.
//
//   FAKE_CUDA_DEVICES=N        so many GPUs (1)
//   FAKE_CUDA_CAPABILITY=80    their compute capability
//   FAKE_CUDA_PROCESSORS=3     of a GPU, each with room for two workgroups; 0: launches cannot be cooperative
//   FAKE_CUDA_MEMORY=BYTES     of a GPU (16 GiB)
//   FAKE_CUDA_VERSION=12080    of the driver
//   FAKE_CUDA_FAIL=CALL:N:CODE the N-th call of a function fails with a code; CALL may be * for any function
//   FAKE_CUDA_LOSE=N           from the N-th call on (of any function) every call fails: the GPU is lost
//   FAKE_CUDA_ORDER=backwards  workgroups run from the last to the first
//   FAKE_CUDA_TEXT=FILE        modules are this text, whatever a program gives: for faults that tests plant
//   FAKE_CUDA_COUNTS=FILE      writes the table of counts at the end
//   FAKE_CUDA_CALLS=FILE       writes the number of calls, what was not released, and the number of calls of each
//   function
#pragma once

#include <cstdint>
#include <string>

namespace talc::ptx {

struct DriverSettings {
  int32_t devices = 1, capability = 80, processors = 3, version = 12080;
  uint64_t memory = 16ull << 30;
  std::string failingCall;
  uint64_t failingAt = 0, losesAt = 0;  // 0: never
  int32_t failsWith = 999;
  bool backwards = false;
  std::string textFile, countsFile, callsFile;
};

DriverSettings readSettings();

}  // namespace talc::ptx
