// SPDX-License-Identifier: Apache-2.0
// A model on a card: its kernels, made by the driver from PTX, and its weights.
#pragma once

#include "runtime/device/cuda/Card.h"
#include "runtime/device/gpu/GpuModel.h"

namespace talc::cuda {

class CudaModel final : public GpuModel<Card> {
public:
  CudaModel(std::shared_ptr<const Card> card, const std::string &file, const artifact::ModelInfo &facts,
            const char *target);
  ~CudaModel() override;

  // The part of a Code section behind its head.
  Status loadCode(const unsigned char *bytes, uint64_t size);
  Status loadWeights(const unsigned char *bytes, const UploadProgress &progress);

  WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const override;
  Status createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const override;

  Function function(uint32_t kernel) const { return functions[kernel]; }
  // How many workgroups of a phase's persistent kernel the card has room for at a time; 0: steps are launches.
  uint32_t persistentWorkgroups(Phase phase) const { return workgroupsAtOnce[static_cast<size_t>(phase)]; }
  Address weights() const { return stored.address(); }

private:
  uint32_t rowsAtOnce(Phase phase) const override;
  Status loadModule();
  Status findFunctions();
  Status findPersistent(Phase phase);
  Status allowShared(const artifact::LaunchKernel &kernel, Function function);

  Module module = nullptr;
  std::vector<Function> functions;
  uint32_t workgroupsAtOnce[3] = {};  // of phases
  CardMemory stored;
};

}  // namespace talc::cuda
