// SPDX-License-Identifier: Apache-2.0
// The tables of a code section for GPUs, checked: whatever a hostile section says, what is launched stays
// within the tables, and every address within the buffer that it begins in.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/device/Device.h"
#include "runtime/device/gpu/LaunchTable.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace talc {

// The values of a step from which those of its launches' arguments are computed.
struct LaunchValues {
  uint64_t bases[artifact::launchBases];  // by LaunchBase
  uint64_t tokens;

  bool operator==(const LaunchValues &other) const {
    return tokens == other.tokens && std::equal(std::begin(bases), std::end(bases), other.bases);
  }
};

class LaunchCode {
public:
  // `bytes`: what stands behind the head of a Code section. Returns what is wrong, or nothing.
  std::string read(const unsigned char *bytes, uint64_t size, const artifact::ModelInfo &facts);

  const std::vector<artifact::LaunchKernel> &kernels() const { return kernelTable; }
  // The launches of every entry, by EntryIndex.
  const std::vector<artifact::LaunchEntry> &entries() const { return entryTable; }
  const artifact::Launch &launch(uint32_t index) const { return launches[index]; }
  // Says how many launches a step has, if one of up to `tokensAtOnce` tokens is a single launch.
  static std::string describeSteps(const artifact::LaunchEntry &entry, uint32_t tokensAtOnce);
  // The code of the kernels, unchecked: PTX, or modules of SPIR-V.
  const std::vector<std::string> &modules() const { return moduleCodes; }

  const artifact::LaunchArgument &argument(const artifact::Launch &launch, uint32_t number) const {
    return arguments[launch.firstArgument + number];
  }
  // Offsets in the weights at which arguments begin, ascending: a weight lies between two of them.
  std::vector<uint64_t> weightOffsets() const;

  // Returns the value of a launch's argument with this number.
  uint64_t value(const artifact::Launch &launch, uint32_t argument, const LaunchValues &values) const;
  // Workgroups in x; 0: the launch is left out. UINT64_MAX: more than can be.
  uint64_t gridX(const artifact::Launch &launch, const LaunchValues &values) const;

private:
  std::string readTables(const unsigned char *bytes, uint64_t size);
  std::string checkKernels() const;
  std::string checkLaunches() const;
  std::string checkArguments(const artifact::ModelInfo &facts) const;
  std::string checkEntries(const artifact::ModelInfo &facts) const;
  std::string checkPersistent(const artifact::LaunchEntry &entry) const;

  std::vector<artifact::LaunchKernel> kernelTable;
  std::vector<artifact::LaunchEntry> entryTable;
  std::vector<artifact::Launch> launches;
  std::vector<artifact::LaunchArgument> arguments;
  std::vector<std::string> moduleCodes;
};

}  // namespace talc
