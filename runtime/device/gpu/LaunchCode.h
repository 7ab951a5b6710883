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

// What values of arguments are made of, of a step.
struct LaunchValues {
  uint64_t bases[artifact::launchBases];  // by LaunchBase
  uint64_t rows;

  bool operator==(const LaunchValues &other) const {
    return rows == other.rows && std::equal(std::begin(bases), std::end(bases), other.bases);
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
  // For people: in how many launches a step runs, if one of up to `tokensAtOnce` rows is a single launch.
  static std::string stepsOf(const artifact::LaunchEntry &entry, uint32_t tokensAtOnce);
  // What the section says of kernels, unchecked: PTX, or modules of SPIR-V.
  const std::vector<std::string> &modules() const { return moduleCodes; }

  const artifact::LaunchArgument &argument(const artifact::Launch &launch, uint32_t number) const {
    return arguments[launch.firstArgument + number];
  }
  // Where in the weights arguments begin, ascending: a weight lies between two of them.
  std::vector<uint64_t> weightPlaces() const;

  // Of the argument with this number among those of a launch.
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
