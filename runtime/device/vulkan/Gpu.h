// SPDX-License-Identifier: Apache-2.0
// A GPU that is open: its logical device with one queue, and how its failures are reported.
#pragma once

#include "runtime/device/vulkan/Driver.h"

#include <memory>
#include <mutex>
#include <vector>

namespace talc::vulkan {

// Properties of a GPU that can be read without opening it.
struct GpuProperties {
  PhysicalDevice device = nullptr;
  std::string description;  // AMD Radeon RX 7900 XTX (RADV NAVI31)
  uint32_t apiVersion = 0, queueFamily = 0;
  GpuType type = GpuType::Other;
  uint64_t memory = 0;          // bytes of its own, or of the host that it shares
  uint64_t largestBuffer = 0;   // bytes
  uint32_t timestampBits = 0;   // that count; 0: it has no clock
  double timestampSeconds = 0;  // of a tick
  uint32_t sharedPerWorkgroup = 0, threadsPerWorkgroup = 0, workgroupsInX = 0, workgroupsInY = 0;
  MemoryProperties2 memoryTypes;
  std::string lack;  // why it cannot run talc's kernels; empty: it can
};

Status readGpus(const Driver &driver, std::vector<GpuProperties> &gpus);
// Bytes that are free now; 0: the driver does not say.
uint64_t availableMemory(const Driver &driver, const GpuProperties &gpu);

class Gpu {
public:
  // The GPU with a number; fails with DEVICE.
  static Status open(int32_t number, std::shared_ptr<const Gpu> &gpu);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  // vulkan:0
  const std::string &name() const { return label; }
  const GpuProperties &facts() const { return properties; }
  const Driver &driver;
  LogicalDevice device = nullptr;

  // OK, or what failed while `what`: of memory MEMORY, else DEVICE_FAILED.
  Status check(Result result, const char *what) const;
  // Commands of a thread wait for no other's; `fence` is signalled when they have run.
  Result submit(CommandBuffer commands, Fence fence) const;
  // Waits until nothing runs any more, whoever submitted it.
  void waitForAll() const;

private:
  Gpu(const Driver &driver, int32_t number, GpuProperties facts);
  Result makeDevice();

  const std::string label;
  const GpuProperties properties;
  Queue queue = nullptr;
  mutable std::mutex queueMutex;
};

}  // namespace talc::vulkan
