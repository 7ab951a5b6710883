// SPDX-License-Identifier: Apache-2.0
// Runs steps as commands that are recorded once for each entry: what differs between steps are workgroups and
// arguments, which the GPU reads from memory that the host fills.
#pragma once

#include "runtime/device/gpu/StepMemory.h"
#include "runtime/device/vulkan/LaunchClock.h"
#include "runtime/device/vulkan/VulkanModel.h"

#include <deque>

namespace talc::vulkan {

class VulkanWorkspace final : public Workspace {
public:
  static Status create(const VulkanModel &model, const WorkspaceOptions &options,
                       std::unique_ptr<Workspace> &workspace);

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
  // Launches of an entry, and what they read of arguments.
  struct Recorded {
    explicit Recorded(const Gpu &gpu) : arguments(gpu, Place::Sent) {}
    GpuMemory arguments;
    std::vector<std::unique_ptr<Commands>> parts;
  };

  VulkanWorkspace(const VulkanModel &model, const WorkspaceOptions &options);
  Status prepare();
  Status record(const artifact::LaunchEntry &entry);
  Status sendStep(const Step &step);
  Status writeArguments(const Step &step);
  Status runParts(const Step &step, const Recorded &recorded) const;
  Status runTimed(const Step &step, const Recorded &recorded);
  // Adds the launch whose workgroups and arguments stand at `place`, which moves behind them.
  void addLaunch(Commands &commands, const Recorded &recorded, const artifact::Launch &launch, uint64_t &place) const;
  StepAddresses addresses() const;

  const VulkanModel &model;
  const Gpu &gpu;
  const WorkspaceOptions options;
  GpuMemory kvCache, arena, words;
  std::deque<GpuMemory> outputs;
  std::vector<std::unique_ptr<Recorded>> entries;  // by EntryIndex
  mutable Transfer transfer;
  std::vector<int32_t> stepWords;
  LaunchClock clock;
  bool measured = false;
};

}  // namespace talc::vulkan
