// SPDX-License-Identifier: Apache-2.0
// Runs steps on a pool of threads; states, temporaries and results lie in this process's memory.
#pragma once

#include "runtime/device/cpu/CpuModel.h"
#include "runtime/device/cpu/ThreadGovernor.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/memory/Mapping.h"

namespace talc {

class CpuWorkspace final : public Workspace {
public:
  // No more threads are started than threadLimit().
  static Status create(const CpuModel &model, int32_t slots, int32_t threads, std::unique_ptr<Workspace> &workspace);

  Status run(const Step &step) override;
  void discard(int32_t slot) override;
  WorkspaceMemory memory() const override;
  int32_t threads() const override { return pool->size(); }
  void measure(Mark mark, void *state) override;

protected:
  Status grow(const StepSize &size) override;

private:
  CpuWorkspace(const CpuModel &model, int32_t slots) : model(model), slots(slots) {}
  Status outOfMemory(const char *what, uint64_t bytes) const;
  void describe(const Step &step, artifact::StepContext &context);
  void runOn(int32_t threads, Phase phase, artifact::StepContext &context);

  const CpuModel &model;
  const int32_t slots;
  std::unique_ptr<ThreadGovernor> governor;  // null: every step runs on all threads
  std::unique_ptr<ThreadPool> pool;
  Mark mark = nullptr;
  void *markState = nullptr;
  Mapping states, arena;
  Mapping outputs[artifact::maxOutputs];
};

}  // namespace talc
