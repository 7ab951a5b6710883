// SPDX-License-Identifier: Apache-2.0
// One allocation for each buffer: there are few of them.
#include "runtime/device/vulkan/GpuMemory.h"

#include <algorithm>
#include <cinttypes>

namespace talc::vulkan {

// The first type that has what is best; what the host sees needs no flushes.
bool GpuMemory::findType(uint32_t allowed, uint32_t &type) const {
  constexpr uint32_t seen = memoryHostVisible | memoryHostCoherent;
  const uint32_t best[2] = {place == Place::Device ? memoryDeviceLocal
                            : place == Place::Sent ? seen | memoryDeviceLocal
                                                   : seen | memoryHostCached,
                            place == Place::Device ? 0 : seen};
  const MemoryProperties2 &types = gpu.facts().memoryTypes;
  for (uint32_t wanted : best)
    for (type = 0; type < std::min(types.typeCount, 32U); ++type)
      if (allowed >> type & 1 && (types.types[type].flags & wanted) == wanted)
        return true;
  return false;
}

Result GpuMemory::allocate(uint64_t wanted) {
  const Driver &driver = gpu.driver;
  BufferCreateInfo info;
  info.size = wanted;
  info.usage = bufferStorage | bufferAddress | bufferTransferSource | bufferTransferTarget |
               (place == Place::Sent ? bufferIndirect : 0);
  if (Result result = driver.vkCreateBuffer(gpu.device, &info, nullptr, &handle); result != Success) {
    handle = 0;
    return result;
  }
  MemoryRequirements needed = {};
  MemoryAllocateFlagsInfo flags;
  MemoryAllocateInfo allocation;
  driver.vkGetBufferMemoryRequirements(gpu.device, handle, &needed);
  flags.flags = allocateDeviceAddress;
  allocation.next = &flags;
  allocation.size = needed.size;
  if (!findType(needed.types, allocation.memoryType))
    return OutOfDeviceMemory;
  Result result = driver.vkAllocateMemory(gpu.device, &allocation, nullptr, &memory);
  if (result != Success) {
    memory = 0;
    return result;
  }
  result = driver.vkBindBufferMemory(gpu.device, handle, memory, 0);
  void *seen = nullptr;
  if (result == Success && place != Place::Device)
    result = driver.vkMapMemory(gpu.device, memory, 0, wholeSize, 0, &seen);
  onHost = static_cast<unsigned char *>(seen);
  BufferDeviceAddressInfo asked;
  asked.buffer = handle;
  begin = result == Success ? driver.vkGetBufferDeviceAddress(gpu.device, &asked) : 0;
  return result;
}

Status GpuMemory::reserve(uint64_t wanted, const char *what) {
  if (wanted <= bytes)
    return {};
  release();
  const GpuProperties &facts = gpu.facts();
  if (wanted > facts.largestBuffer)
    return Status::failure(TALC_ERROR_MEMORY,
                           "%s (%s): no memory for %s: %" PRIu64 " bytes, but a buffer can have %" PRIu64
                           "; choose --device=cpu",
                           gpu.name().c_str(), facts.description.c_str(), what, wanted, facts.largestBuffer);
  Result result = allocate(wanted);
  if (result == Success) {
    bytes = wanted;
    return {};
  }
  release();
  if (result != OutOfDeviceMemory && result != OutOfHostMemory)
    return gpu.check(result, "memory was taken");
  return Status::failure(TALC_ERROR_MEMORY,
                         "%s (%s): no memory for %s: %" PRIu64
                         " bytes; use weights in a smaller format, fewer or shorter sequences, or --device=cpu",
                         gpu.name().c_str(), facts.description.c_str(), what, wanted);
}

void GpuMemory::release() {
  if (handle)
    gpu.driver.vkDestroyBuffer(gpu.device, handle, nullptr);
  if (memory)
    gpu.driver.vkFreeMemory(gpu.device, memory, nullptr);
  handle = memory = begin = bytes = 0;
  onHost = nullptr;
}

}  // namespace talc::vulkan
