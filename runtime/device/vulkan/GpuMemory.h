// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU: a buffer with an address, and whether the host sees it.
#pragma once

#include "runtime/device/vulkan/Gpu.h"

namespace talc::vulkan {

enum class Place {
  Device,   // its own memory
  Sent,     // the host writes, the GPU reads
  Fetched,  // the GPU writes, the host reads
};

class GpuMemory {
public:
  GpuMemory(const Gpu &gpu, Place place) : gpu(gpu), place(place) {}
  ~GpuMemory() { release(); }
  GpuMemory(const GpuMemory &) = delete;
  GpuMemory &operator=(const GpuMemory &) = delete;

  // Gives up what was there, unless it suffices. Nothing is taken for 0 bytes. `what` is for the message.
  Status reserve(uint64_t bytes, const char *what);
  void release();

  Buffer buffer() const { return handle; }
  Address address() const { return begin; }
  uint64_t size() const { return bytes; }
  // Returns null for memory that the host cannot see.
  unsigned char *mapped() const { return onHost; }

private:
  Result allocate(uint64_t bytes);
  bool findType(uint32_t allowed, uint32_t &type) const;

  const Gpu &gpu;
  const Place place;
  Buffer handle = 0;
  DeviceMemory memory = 0;
  Address begin = 0;
  uint64_t bytes = 0;
  unsigned char *onHost = nullptr;
};

}  // namespace talc::vulkan
