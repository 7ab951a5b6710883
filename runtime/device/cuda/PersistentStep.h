// SPDX-License-Identifier: Apache-2.0
// A step as one cooperative launch (LaunchTable.h: persistent kernels), for steps whose launches would be short.
//
// The table of launches has what an entry's launches would be passed; it is sent to the GPU when it differs from that
// of the step before. The counters are cleared for every step.
#pragma once

#include "runtime/device/cuda/CudaModel.h"

namespace talc::cuda {

class PersistentStep {
public:
  static constexpr int64_t maxWorkgroups = 1 << 12;

  explicit PersistentStep(const CudaModel &model) : model(model), table(model.onGpu()) {}

  // Bytes on the GPU, whatever the step.
  static uint64_t bytesFor(const CudaModel &model);
  uint64_t bytes() const { return table.size(); }
  Status prepare() { return table.reserve(bytesFor(model), "the launches of a step"); }

  // Whether start() may begin a step.
  bool suits(EntryIndex entry, const LaunchValues &values);
  // Launches the step that suits() last accepted. `begun`: false if the driver has no room for the launch at this time;
  // it isn't asked again.
  Status start(Stream stream, bool &begun);

private:
  bool fill(EntryIndex entry, const LaunchValues &values);
  bool fillLaunches(const artifact::LaunchEntry &entry, const LaunchValues &values);

  const CudaModel &model;
  GpuMemory table;                                   // launches | values of arguments | counters
  std::vector<artifact::PersistentLaunch> launches;  // on the host
  std::vector<uint64_t> arguments;
  std::vector<unsigned char> image;
  EntryIndex imageEntry = noEntry;
  LaunchValues imageValues = {};
  uint32_t workgroups = 0;
  bool isFilled = false, isSent = false, hasRoom = true;
};

}  // namespace talc::cuda
