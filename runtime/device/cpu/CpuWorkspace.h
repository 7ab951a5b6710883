// SPDX-License-Identifier: Apache-2.0
// Runs steps on a pool of threads; KV cache, temporaries and results are in this process's memory.
#pragma once

#include "runtime/device/cpu/CpuModel.h"
#include "runtime/device/cpu/StepAbort.h"
#include "runtime/device/cpu/ThreadGovernor.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/memory/Mapping.h"

namespace talc {

class CpuWorkspace final : public Workspace {
public:
  // Starts at most threadLimit() threads.
  static Status create(const CpuModel &model, const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace);

  Status run(const Step &step) override;
  Status readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const override;
  Status writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) override;
  void discard(int32_t slot) override;
  void runTasks(int64_t count, void (*task)(void *context, int64_t index), void *context) override;
  bool survivesFork() const override { return true; }
  WorkspaceMemory memory() const override;
  int32_t threads() const override { return pool->size(); }
  void measure(Mark mark, void *state) override;

protected:
  Status grow(const StepSize &size) override;

private:
  CpuWorkspace(const CpuModel &model, const WorkspaceOptions &options);
  Status outOfMemory(const char *what, uint64_t bytes) const;
  void describe(const Step &step, artifact::StepContext &context);
  Status outcome() const;  // of the last step
  void runOn(int32_t threads, const Step &step, artifact::StepContext &context);

  const CpuModel &model;
  const int32_t slots;
  std::unique_ptr<ThreadGovernor> governor;  // null: every step runs on all threads
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<StepAbort> abort;  // null: steps cannot be aborted
  Mark mark = nullptr;
  void *markState = nullptr;
  Mapping kvCache, arena;
  Mapping outputs[artifact::maxOutputs];
};

}  // namespace talc
