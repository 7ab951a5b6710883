// SPDX-License-Identifier: Apache-2.0
// Commands that a GPU runs one after the other: each sees what those before it wrote, and the host what all of them
// wrote.
#pragma once

#include "runtime/device/vulkan/GpuMemory.h"

namespace talc::vulkan {

// A command buffer of one thread: it is recorded once, and run as often as wanted.
class Commands {
public:
  explicit Commands(const Gpu &gpu) : gpu(gpu) {}
  ~Commands();
  Commands(const Commands &) = delete;
  Commands &operator=(const Commands &) = delete;

  // Makes what is needed at the first call; forgets what was recorded.
  Status begin();
  Status end();
  // Waits until they have run.
  Status run(const char *what) const;

  void copy(const GpuMemory &from, uint64_t source, const GpuMemory &to, uint64_t target, uint64_t size);
  void clear(const GpuMemory &memory);
  // Launches as many workgroups as `grids` has at an offset. `arguments`: their address; `waits`: for those before.
  void dispatch(PipelineLayout layout, Pipeline pipeline, Address arguments, const GpuMemory &grids, uint64_t offset,
                bool waits);
  // The GPU's time when all before has run goes to a query; those of a pool are reset before.
  void resetQueries(QueryPool pool, uint32_t count);
  void timestamp(QueryPool pool, uint32_t query);
  bool recorded() const { return ready; }

private:
  void barrier(uint32_t targetStages, uint32_t targetAccess);

  const Gpu &gpu;
  CommandPool pool = 0;
  CommandBuffer commands = nullptr;
  Fence fence = 0;
  bool ready = false;
};

// Copies to and from the GPU's own memory, through memory that both see.
class Transfer {
public:
  explicit Transfer(const Gpu &gpu) : commands(gpu), sent(gpu, Place::Sent), fetched(gpu, Place::Fetched) {}

  Status send(const unsigned char *source, const GpuMemory &to, uint64_t target, uint64_t bytes, const char *what);
  Status fetch(const GpuMemory &from, uint64_t source, unsigned char *target, uint64_t bytes, const char *what);
  Status clear(const GpuMemory &memory, const char *what);

private:
  static constexpr uint64_t part = 16 << 20;  // of a copy

  Commands commands;
  GpuMemory sent, fetched;
};

}  // namespace talc::vulkan
