// SPDX-License-Identifier: Apache-2.0
// A model on a GPU: its kernels, made by the driver from PTX, and its weights.
#pragma once

#include "runtime/artifact/ModelWeights.h"
#include "runtime/device/cuda/KernelModules.h"
#include "runtime/device/gpu/GpuModel.h"

namespace talc::cuda {

class CudaModel final : public GpuModel<Gpu> {
public:
  CudaModel(std::shared_ptr<const Gpu> gpu, const std::string &file, const artifact::ModelInfo &facts,
            const char *target);

  // The part of a Code section behind its head.
  Status loadCode(const unsigned char *bytes, uint64_t size);
  Status loadWeights(const ModelWeights &weights, const UploadProgress &progress);

  Status prepareAll() override { return modules.loadAll(); }
  WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const override;
  Status createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const override;

  // A kernel whose module is loaded: that of a persistent kernel is, if it has workgroups.
  Function function(uint32_t kernel) const { return modules.function(kernel); }
  // Before the launches of an entry; see KernelModules.
  Status loadLaunches(EntryIndex entry) const { return modules.loadLaunches(launches.entries()[entry]); }
  // The number of workgroups of an entry's persistent kernel that the GPU holds at once; 0: steps are launches.
  uint32_t persistentWorkgroups(EntryIndex entry) const { return workgroupsAtOnce[entry]; }
  Address weights() const { return stored.address(); }

private:
  uint32_t tokensAtOnce(EntryIndex entry) const override;
  Status findPersistent(EntryIndex entry);

  mutable KernelModules modules;           // grow while steps run
  std::vector<uint32_t> workgroupsAtOnce;  // of entries
  GpuMemory stored;
};

}  // namespace talc::cuda
