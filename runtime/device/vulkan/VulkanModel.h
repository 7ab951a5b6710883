// SPDX-License-Identifier: Apache-2.0
// A model on a GPU: a pipeline for every kernel, and its weights.
#pragma once

#include "runtime/artifact/ModelWeights.h"
#include "runtime/device/gpu/GpuModel.h"
#include "runtime/device/vulkan/GpuMemory.h"

namespace talc::vulkan {

class VulkanModel final : public GpuModel<Gpu> {
public:
  VulkanModel(std::shared_ptr<const Gpu> gpu, const std::string &file, const artifact::ModelInfo &facts,
              const char *target);
  ~VulkanModel() override;

  // The part of a Code section behind its head.
  Status loadCode(const unsigned char *bytes, uint64_t size);
  Status loadWeights(const ModelWeights &weights, const UploadProgress &progress);

  WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const override;
  Status createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const override;

  PipelineLayout layout() const { return pipelineLayout; }
  Pipeline pipeline(uint32_t kernel) const { return pipelines[kernel]; }
  // Returns the address of the weights at an offset.
  Address weightAt(uint64_t offset) const;

  // Returns the bytes of a launch's workgroups, three words, and of its arguments, which lie 16 bytes behind them.
  static uint64_t launchBytes(const artifact::LaunchKernel &kernel);
  // Returns launchBytes() of all launches of an entry.
  uint64_t entryBytes(const artifact::LaunchEntry &entry) const;

private:
  // A run of weights, which suits a buffer of the GPU.
  struct Part {
    Part(const Gpu &gpu, uint64_t begin) : begin(begin), memory(gpu, Place::Device) {}
    uint64_t begin;
    GpuMemory memory;
  };
  std::vector<uint64_t> divideWeights() const;

  Status makeLayout();
  Status makePipelines();
  Status makePipeline(const artifact::LaunchKernel &kernel, const std::vector<uint32_t> &words);
  Status checkLimits(const artifact::LaunchKernel &kernel) const;

  PipelineLayout pipelineLayout = 0;
  std::vector<Pipeline> pipelines;
  std::vector<std::unique_ptr<Part>> stored;
};

}  // namespace talc::vulkan
