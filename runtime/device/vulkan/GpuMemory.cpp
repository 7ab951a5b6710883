// SPDX-License-Identifier: Apache-2.0
// One allocation for each buffer: there are few of them.
#include "runtime/device/vulkan/GpuMemory.h"

#include <algorithm>
#include <cinttypes>

namespace talc::vulkan {

// Finds the first type with the best flags, else with those that it must have. Memory that the host sees needs no
// flushes.
bool GpuMemory::findType(uint32_t allowed, uint32_t &type) const {
  constexpr uint32_t mappable = memoryHostVisible | memoryHostCoherent;
  const uint32_t choices[2] = {place == Place::Device ? memoryDeviceLocal
                               : place == Place::Sent ? mappable | memoryDeviceLocal
                                                      : mappable | memoryHostCached,
                               place == Place::Device ? 0 : mappable};
  const MemoryProperties2 &types = gpu.facts().memoryTypes;
  for (uint32_t flags : choices)
    for (type = 0; type < std::min(types.typeCount, 32U); ++type)
      if (allowed >> type & 1 && (types.types[type].flags & flags) == flags)
        return true;
  return false;
}

Result GpuMemory::allocate(uint64_t newBytes) {
  const Driver &driver = gpu.driver;
  BufferCreateInfo info;
  info.size = newBytes;
  info.usage = bufferStorage | bufferAddress | bufferTransferSource | bufferTransferTarget |
               (place == Place::Sent ? bufferIndirect : 0);
  if (Result result = driver.vkCreateBuffer(gpu.device, &info, nullptr, &handle); result != Success) {
    handle = 0;
    return result;
  }
  MemoryRequirements requirements = {};
  MemoryAllocateFlagsInfo flags;
  MemoryAllocateInfo allocation;
  driver.vkGetBufferMemoryRequirements(gpu.device, handle, &requirements);
  flags.flags = allocateDeviceAddress;
  allocation.next = &flags;
  allocation.size = requirements.size;
  if (!findType(requirements.types, allocation.memoryType))
    return OutOfDeviceMemory;
  Result result = driver.vkAllocateMemory(gpu.device, &allocation, nullptr, &memory);
  if (result != Success) {
    memory = 0;
    return result;
  }
  result = driver.vkBindBufferMemory(gpu.device, handle, memory, 0);
  void *hostAddress = nullptr;
  if (result == Success && place != Place::Device)
    result = driver.vkMapMemory(gpu.device, memory, 0, wholeSize, 0, &hostAddress);
  onHost = static_cast<unsigned char *>(hostAddress);
  BufferDeviceAddressInfo addressInfo;
  addressInfo.buffer = handle;
  begin = result == Success ? driver.vkGetBufferDeviceAddress(gpu.device, &addressInfo) : 0;
  return result;
}

Status GpuMemory::reserve(uint64_t newBytes, const char *what) {
  if (newBytes <= bytes)
    return {};
  release();
  const GpuProperties &facts = gpu.facts();
  if (newBytes > facts.largestBuffer)
    return Status::failure(TALC_ERROR_MEMORY,
                           "%s (%s): no memory for %s: %" PRIu64 " bytes, but a buffer can have %" PRIu64
                           "; choose --device=cpu",
                           gpu.name().c_str(), facts.description.c_str(), what, newBytes, facts.largestBuffer);
  Result result = allocate(newBytes);
  if (result == Success) {
    bytes = newBytes;
    return {};
  }
  release();
  if (result != OutOfDeviceMemory && result != OutOfHostMemory)
    return gpu.check(result, "memory was taken");
  return Status::failure(TALC_ERROR_MEMORY,
                         "%s (%s): no memory for %s: %" PRIu64
                         " bytes; use weights in a smaller format, fewer or shorter sequences, or --device=cpu",
                         gpu.name().c_str(), facts.description.c_str(), what, newBytes);
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
