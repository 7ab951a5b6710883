// SPDX-License-Identifier: Apache-2.0
// Code for GPUs, for artifacts of tests: one launch per step.
#pragma once

#include "runtime/device/gpu/LaunchTable.h"
#include "test/runtime/FakeArtifact.h"

namespace talc::test {

// As they lie in a code section behind its head.
struct FakeGpuTables {
  artifact::LaunchHeader header;
  artifact::LaunchModule module;
  artifact::LaunchKernel kernel;
  artifact::LaunchEntry entries[3];
  artifact::Launch launch;
  artifact::LaunchArgument arguments[5];
};

FakeGpuTables makeGpuTables();

// The tables and the code of the kernel.
Bytes makeGpuCode(const FakeGpuTables &tables);

}  // namespace talc::test
