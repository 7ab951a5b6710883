// SPDX-License-Identifier: Apache-2.0
// Runs a kernel: workgroups in turn, and in them warps, each until it waits or has had its share.
#pragma once

#include "test/ptx/SharedMemory.h"
#include "test/ptx/Warp.h"

#include <array>

namespace talc::ptx {

using Extent = std::array<uint32_t, 3>;

struct LaunchShape {
  Extent grid = {1, 1, 1}, block = {1, 1, 1};
  uint64_t dynamicShared = 0;
  bool cooperative = false;  // all workgroups are there at the same time
};

struct LaunchSettings {
  uint32_t residents = 4;      // workgroups that take turns, unless the launch is cooperative
  bool backwards = false;      // the last workgroup begins
  uint64_t turn = 4096;        // instructions of a warp before others have their turn
  uint64_t patience = 1 << 9;  // turns without a store or a barrier until a launch counts as hung
};

class Launch {
public:
  // `parameters`: kernel.parameterBytes. `counts` may be null.
  Launch(const Kernel &kernel, const LaunchShape &shape, const unsigned char *parameters, Memory &memory,
         KernelCounts *counts);

  // Throws a Fault that names kernel, workgroup, thread and line.
  void run(const LaunchSettings &settings);

  const Kernel &kernel;
  const LaunchShape &shape;
  const unsigned char *const parameters;
  Memory &memory;
  KernelCounts *const counts;
  uint64_t progress = 0;  // stores, atomics and barriers so far

private:
  std::unique_ptr<Workgroup> begin(uint64_t index);
};

class Workgroup {
public:
  Workgroup(Launch &launch, Extent place);

  // Every warp has its turn. False if no thread can go on.
  bool turn(uint64_t instructions);
  bool ended() const;
  [[noreturn]] void failStuck() const;

  Launch &launch;
  const Extent place;
  SharedMemory shared;

private:
  bool passBarriers();
  bool passBarrier(uint32_t barrier, uint32_t threads);

  std::vector<std::unique_ptr<Warp>> warps;
};

}  // namespace talc::ptx
