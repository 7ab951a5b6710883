// SPDX-License-Identifier: Apache-2.0
// The launches of a step, recorded by the driver and from then on started by one call.
//
// What tokens a step has stands in its buffer, not in the arguments of its launches. So steps of one entry and as many
// tokens launch the same thing as long as no buffer moves: all steps that decode, of one sequence or of several. A step
// like the one before it is recorded, since more like it may be expected.
#pragma once

#include "runtime/device/cuda/Gpu.h"
#include "runtime/device/gpu/LaunchCode.h"

#include <functional>

namespace talc::cuda {

class StepGraph {
public:
  explicit StepGraph(const Gpu &gpu) : gpu(gpu), tries(gpu.driver.hasGraphs() ? maxTries : 0) {}
  ~StepGraph() { release(); }
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;

  // To be called for every step: whether its launches are recorded, by this call perhaps. `launchAll` puts them into
  // the stream. What could not be recorded is tried again some times, unless the driver does not know how.
  bool holds(EntryIndex entry, const LaunchValues &values, Stream stream, const std::function<Status()> &launchAll);
  // Begins what is recorded.
  Status start(Stream stream) const;

private:
  struct Key {
    EntryIndex entry = noEntry;
    LaunchValues values;
    bool operator==(const Key &other) const { return entry == other.entry && values == other.values; }
  };

  bool record(Stream stream, const std::function<Status()> &launchAll);
  void release();

  const Gpu &gpu;
  static constexpr int maxTries = 3;
  int tries;  // that are left
  GraphExec recorded = nullptr;
  Key ofRecorded = {}, ofLast = {};
};

}  // namespace talc::cuda
