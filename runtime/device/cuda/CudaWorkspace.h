// SPDX-License-Identifier: Apache-2.0
// Runs steps as launches on one stream of a GPU, whose order is what barriers are on CPUs; steps alike as a
// graph of them, and small ones as a single launch.
#pragma once

#include "runtime/device/cuda/CudaModel.h"
#include "runtime/device/cuda/LaunchClock.h"
#include "runtime/device/cuda/PersistentStep.h"
#include "runtime/device/cuda/StepGraph.h"
#include "runtime/device/gpu/StepMemory.h"
#include "runtime/memory/Mapping.h"

#include <deque>

namespace talc::cuda {

class CudaWorkspace final : public Workspace {
public:
  static Status create(const CudaModel &model, const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace);
  ~CudaWorkspace() override;

  Status run(const Step &step) override;
  Status readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const override;
  Status writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) override;
  void discard(int32_t) override {}
  WorkspaceMemory memory() const override;
  int32_t threads() const override { return 1; }
  void measure(Mark mark, void *) override { measured = mark != nullptr; }

protected:
  Status grow(const StepSize &size) override;

private:
  CudaWorkspace(const CudaModel &model, const WorkspaceOptions &options);
  Status prepare();
  Status sendStep(const Step &step);
  Status start(const Step &step, const LaunchValues &values);
  Status launchOneByOne(const Step &step, const LaunchValues &values);
  Status launchAll(const Step &step, const LaunchValues &values);
  Status askWhetherToEnd(const Step &step) const;
  Status launch(const artifact::Launch &launch, const LaunchValues &values);
  Status launchTimed(const artifact::Launch &launch, const LaunchValues &values);
  Status fetchResults(const Step &step);
  Status finish(const char *what) const;
  StepAddresses addresses() const;

  const CudaModel &model;
  const Gpu &gpu;
  const WorkspaceOptions options;
  Stream stream = nullptr;
  GpuMemory kvCache, arena, words;
  std::deque<GpuMemory> outputs;
  Mapping fetched[artifact::maxOutputs];  // on the host
  std::vector<int32_t> stepWords;
  PersistentStep persistent;
  StepGraph graph;
  std::vector<uint64_t> arguments;
  std::vector<void *> argumentPlaces;
  LaunchClock clock;
  bool measured = false;
};

}  // namespace talc::cuda
