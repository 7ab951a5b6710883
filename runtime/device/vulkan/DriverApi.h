// SPDX-License-Identifier: Apache-2.0
// What talc uses of Vulkan, declared by itself: no file of an SDK is needed to build it. Names, numbers and the order
// of fields are those of the specification, names without the prefixes Vk and VK.
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc::vulkan {

enum Result : int32_t {
  Success = 0,
  Timeout = 2,
  OutOfHostMemory = -1,
  OutOfDeviceMemory = -2,
  InitializationFailed = -3,
  DeviceLost = -4,
  MemoryMapFailed = -5,
  LayerNotPresent = -6,
  ExtensionNotPresent = -7,
  FeatureNotPresent = -8,
  IncompatibleDriver = -9,
  TooManyObjects = -10,
  Unknown = -13,
};

enum StructureType : int32_t {
  ApplicationInfoType = 0,
  InstanceCreateInfoType = 1,
  DeviceQueueCreateInfoType = 2,
  DeviceCreateInfoType = 3,
  SubmitInfoType = 4,
  MemoryAllocateInfoType = 5,
  FenceCreateInfoType = 8,
  QueryPoolCreateInfoType = 11,
  BufferCreateInfoType = 12,
  ShaderModuleCreateInfoType = 16,
  PipelineShaderStageCreateInfoType = 18,
  ComputePipelineCreateInfoType = 29,
  PipelineLayoutCreateInfoType = 30,
  CommandPoolCreateInfoType = 39,
  CommandBufferAllocateInfoType = 40,
  CommandBufferBeginInfoType = 42,
  MemoryBarrierType = 46,
  Features2Type = 1000059000,
  Properties2Type = 1000059001,
  MemoryProperties2Type = 1000059006,
  MemoryAllocateFlagsInfoType = 1000060000,
  Float16Int8FeaturesType = 1000082000,
  Storage16FeaturesType = 1000083000,
  Maintenance3PropertiesType = 1000168000,
  Storage8FeaturesType = 1000177000,
  MemoryBudgetPropertiesType = 1000237000,
  BufferDeviceAddressInfoType = 1000244001,
  BufferDeviceAddressFeaturesType = 1000257000,
};

enum class GpuType : int32_t { Other = 0, Integrated = 1, Discrete = 2, Virtual = 3, Processor = 4 };

constexpr uint32_t version(uint32_t major, uint32_t minor) {
  return major << 22 | minor << 12;
}
constexpr uint32_t queueCompute = 2, shaderStageCompute = 0x20, pipelineBindPointCompute = 1;
constexpr uint32_t memoryDeviceLocal = 1, memoryHostVisible = 2, memoryHostCoherent = 4, memoryHostCached = 8;
constexpr uint32_t bufferTransferSource = 1, bufferTransferTarget = 2, bufferStorage = 0x20, bufferIndirect = 0x100,
                   bufferAddress = 0x20000;
constexpr uint32_t allocateDeviceAddress = 2, resetCommandBuffers = 2, submittedOnce = 1;
constexpr uint32_t stageIndirect = 2, stageCompute = 0x800, stageTransfer = 0x1000, stageEnd = 0x2000,
                   stageHost = 0x4000;
constexpr uint32_t queryTimestamp = 2, result64Bits = 1, resultWaits = 2;
constexpr uint32_t accessIndirect = 1, accessShaderRead = 0x20, accessShaderWrite = 0x40, accessTransferRead = 0x800,
                   accessTransferWrite = 0x1000, accessHostRead = 0x2000;
constexpr uint64_t wholeSize = UINT64_MAX;

// Handles: pointers where the specification calls them dispatchable, numbers else.
using Instance = struct InstanceObject *;
using PhysicalDevice = struct PhysicalDeviceObject *;
using LogicalDevice = struct DeviceObject *;
using Queue = struct QueueObject *;
using CommandBuffer = struct CommandBufferObject *;
using Buffer = uint64_t;
using DeviceMemory = uint64_t;
using Fence = uint64_t;
using CommandPool = uint64_t;
using QueryPool = uint64_t;
using ShaderModule = uint64_t;
using PipelineLayout = uint64_t;
using Pipeline = uint64_t;
using Address = uint64_t;

struct ApplicationInfo {
  StructureType type = ApplicationInfoType;
  const void *next = nullptr;
  const char *applicationName = nullptr;
  uint32_t applicationVersion = 0;
  const char *engineName = nullptr;
  uint32_t engineVersion = 0;
  uint32_t apiVersion = 0;
};

struct InstanceCreateInfo {
  StructureType type = InstanceCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0;
  const ApplicationInfo *application = nullptr;
  uint32_t layerCount = 0;
  const char *const *layers = nullptr;
  uint32_t extensionCount = 0;
  const char *const *extensions = nullptr;
};

struct Limits {
  unsigned char others[216];
  uint32_t maxComputeSharedMemorySize;
  uint32_t maxComputeWorkGroupCount[3];
  uint32_t maxComputeWorkGroupInvocations;
  uint32_t maxComputeWorkGroupSize[3];
  unsigned char more[172];
  uint32_t timestampComputeAndGraphics;
  float timestampPeriod;  // nanoseconds of a tick
  alignas(8) unsigned char rest[72];
};
static_assert(sizeof(Limits) == 504 && offsetof(Limits, maxComputeWorkGroupSize) == 236 &&
                  offsetof(Limits, timestampPeriod) == 424,
              "as specified");

struct Properties2 {
  StructureType type = Properties2Type;
  void *next = nullptr;
  uint32_t apiVersion = 0, driverVersion = 0, vendor = 0, device = 0;
  GpuType deviceType = GpuType::Other;
  char deviceName[256] = {};
  unsigned char pipelineCache[16] = {};
  Limits limits = {};
  uint32_t sparse[5] = {};
};
static_assert(sizeof(Properties2) == 16 + 824, "as specified");

struct Maintenance3Properties {
  StructureType type = Maintenance3PropertiesType;
  void *next = nullptr;
  uint32_t maxPerSetDescriptors = 0;
  uint64_t maxMemoryAllocationSize = 0;
};

struct Features2 {
  StructureType type = Features2Type;
  void *next = nullptr;
  uint32_t others[40] = {};
  uint32_t shaderInt64 = 0, shaderInt16 = 0;
  uint32_t rest[13] = {};
};
static_assert(sizeof(Features2) == 16 + 224, "as specified");

struct Storage16Features {
  StructureType type = Storage16FeaturesType;
  void *next = nullptr;
  uint32_t storageBuffer16BitAccess = 0, uniformAndStorageBuffer16BitAccess = 0, storagePushConstant16 = 0,
           storageInputOutput16 = 0;
};

struct Storage8Features {
  StructureType type = Storage8FeaturesType;
  void *next = nullptr;
  uint32_t storageBuffer8BitAccess = 0, uniformAndStorageBuffer8BitAccess = 0, storagePushConstant8 = 0;
};

struct Float16Int8Features {
  StructureType type = Float16Int8FeaturesType;
  void *next = nullptr;
  uint32_t shaderFloat16 = 0, shaderInt8 = 0;
};

struct BufferDeviceAddressFeatures {
  StructureType type = BufferDeviceAddressFeaturesType;
  void *next = nullptr;
  uint32_t bufferDeviceAddress = 0, captureReplay = 0, multiDevice = 0;
};

struct QueueFamilyProperties {
  uint32_t flags, count, timestampBits, granularity[3];
};

struct MemoryType {
  uint32_t flags, heap;
};
struct MemoryHeap {
  uint64_t size;
  uint32_t flags;
};
struct MemoryProperties2 {
  StructureType type = MemoryProperties2Type;
  void *next = nullptr;
  uint32_t typeCount = 0;
  MemoryType types[32] = {};
  uint32_t heapCount = 0;
  MemoryHeap heaps[16] = {};
};

struct MemoryBudgetProperties {
  StructureType type = MemoryBudgetPropertiesType;
  void *next = nullptr;
  uint64_t budget[16] = {}, usage[16] = {};
};

struct ExtensionProperties {
  char name[256];
  uint32_t version;
};

struct DeviceQueueCreateInfo {
  StructureType type = DeviceQueueCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, family = 0, count = 0;
  const float *priorities = nullptr;
};

struct DeviceCreateInfo {
  StructureType type = DeviceCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, queueCount = 0;
  const DeviceQueueCreateInfo *queues = nullptr;
  uint32_t layerCount = 0;
  const char *const *layers = nullptr;
  uint32_t extensionCount = 0;
  const char *const *extensions = nullptr;
  const void *features = nullptr;
};

struct BufferCreateInfo {
  StructureType type = BufferCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0;
  uint64_t size = 0;
  uint32_t usage = 0;
  int32_t sharing = 0;
  uint32_t familyCount = 0;
  const uint32_t *families = nullptr;
};

struct MemoryRequirements {
  uint64_t size, alignment;
  uint32_t types;
};

struct MemoryAllocateFlagsInfo {
  StructureType type = MemoryAllocateFlagsInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, deviceMask = 0;
};

struct MemoryAllocateInfo {
  StructureType type = MemoryAllocateInfoType;
  const void *next = nullptr;
  uint64_t size = 0;
  uint32_t memoryType = 0;
};

struct BufferDeviceAddressInfo {
  StructureType type = BufferDeviceAddressInfoType;
  const void *next = nullptr;
  Buffer buffer = 0;
};

struct ShaderModuleCreateInfo {
  StructureType type = ShaderModuleCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0;
  size_t size = 0;
  const uint32_t *words = nullptr;
};

struct PushConstantRange {
  uint32_t stages, offset, size;
};

struct PipelineLayoutCreateInfo {
  StructureType type = PipelineLayoutCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, setCount = 0;
  const void *sets = nullptr;
  uint32_t rangeCount = 0;
  const PushConstantRange *ranges = nullptr;
};

struct PipelineShaderStageCreateInfo {
  StructureType type = PipelineShaderStageCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, stage = shaderStageCompute;
  ShaderModule module = 0;
  const char *name = nullptr;
  const void *specialization = nullptr;
};

struct ComputePipelineCreateInfo {
  StructureType type = ComputePipelineCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0;
  PipelineShaderStageCreateInfo stage;
  PipelineLayout layout = 0;
  Pipeline base = 0;
  int32_t baseIndex = -1;
};

struct CommandPoolCreateInfo {
  StructureType type = CommandPoolCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, family = 0;
};

struct CommandBufferAllocateInfo {
  StructureType type = CommandBufferAllocateInfoType;
  const void *next = nullptr;
  CommandPool pool = 0;
  int32_t level = 0;
  uint32_t count = 0;
};

struct CommandBufferBeginInfo {
  StructureType type = CommandBufferBeginInfoType;
  const void *next = nullptr;
  uint32_t flags = 0;
  const void *inheritance = nullptr;
};

struct MemoryBarrier {
  StructureType type = MemoryBarrierType;
  const void *next = nullptr;
  uint32_t source = 0, target = 0;
};

struct BufferCopy {
  uint64_t source, target, size;
};

struct FenceCreateInfo {
  StructureType type = FenceCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0;
};

struct SubmitInfo {
  StructureType type = SubmitInfoType;
  const void *next = nullptr;
  uint32_t waitCount = 0;
  const void *waits = nullptr, *waitStages = nullptr;
  uint32_t commandCount = 0;
  const CommandBuffer *commands = nullptr;
  uint32_t signalCount = 0;
  const void *signals = nullptr;
};

struct QueryPoolCreateInfo {
  StructureType type = QueryPoolCreateInfoType;
  const void *next = nullptr;
  uint32_t flags = 0, kind = 0, count = 0, statistics = 0;
};

// name, type of the result, parameters; of an instance and of what it yields. `allocator` is null throughout.
#define TALC_VULKAN_FUNCTIONS(FUNCTION)                                                                                \
  FUNCTION(vkEnumeratePhysicalDevices, Result, Instance instance, uint32_t *count, PhysicalDevice *devices)            \
  FUNCTION(vkGetPhysicalDeviceProperties2, void, PhysicalDevice device, Properties2 *properties)                       \
  FUNCTION(vkGetPhysicalDeviceFeatures2, void, PhysicalDevice device, Features2 *features)                             \
  FUNCTION(vkGetPhysicalDeviceMemoryProperties2, void, PhysicalDevice device, MemoryProperties2 *properties)           \
  FUNCTION(vkGetPhysicalDeviceQueueFamilyProperties, void, PhysicalDevice device, uint32_t *count,                     \
           QueueFamilyProperties *families)                                                                            \
  FUNCTION(vkEnumerateDeviceExtensionProperties, Result, PhysicalDevice device, const char *layer, uint32_t *count,    \
           ExtensionProperties *extensions)                                                                            \
  FUNCTION(vkCreateDevice, Result, PhysicalDevice device, const DeviceCreateInfo *info, const void *allocator,         \
           LogicalDevice *made)                                                                                        \
  FUNCTION(vkDestroyDevice, void, LogicalDevice device, const void *allocator)                                         \
  FUNCTION(vkGetDeviceQueue, void, LogicalDevice device, uint32_t family, uint32_t index, Queue *queue)                \
  FUNCTION(vkQueueSubmit, Result, Queue queue, uint32_t count, const SubmitInfo *submits, Fence fence)                 \
  FUNCTION(vkCreateBuffer, Result, LogicalDevice device, const BufferCreateInfo *info, const void *allocator,          \
           Buffer *buffer)                                                                                             \
  FUNCTION(vkDestroyBuffer, void, LogicalDevice device, Buffer buffer, const void *allocator)                          \
  FUNCTION(vkGetBufferMemoryRequirements, void, LogicalDevice device, Buffer buffer, MemoryRequirements *needed)       \
  FUNCTION(vkGetBufferDeviceAddress, Address, LogicalDevice device, const BufferDeviceAddressInfo *info)               \
  FUNCTION(vkAllocateMemory, Result, LogicalDevice device, const MemoryAllocateInfo *info, const void *allocator,      \
           DeviceMemory *memory)                                                                                       \
  FUNCTION(vkFreeMemory, void, LogicalDevice device, DeviceMemory memory, const void *allocator)                       \
  FUNCTION(vkBindBufferMemory, Result, LogicalDevice device, Buffer buffer, DeviceMemory memory, uint64_t offset)      \
  FUNCTION(vkMapMemory, Result, LogicalDevice device, DeviceMemory memory, uint64_t offset, uint64_t size,             \
           uint32_t flags, void **mapped)                                                                              \
  FUNCTION(vkCreateShaderModule, Result, LogicalDevice device, const ShaderModuleCreateInfo *info,                     \
           const void *allocator, ShaderModule *module)                                                                \
  FUNCTION(vkDestroyShaderModule, void, LogicalDevice device, ShaderModule module, const void *allocator)              \
  FUNCTION(vkCreatePipelineLayout, Result, LogicalDevice device, const PipelineLayoutCreateInfo *info,                 \
           const void *allocator, PipelineLayout *layout)                                                              \
  FUNCTION(vkDestroyPipelineLayout, void, LogicalDevice device, PipelineLayout layout, const void *allocator)          \
  FUNCTION(vkCreateComputePipelines, Result, LogicalDevice device, uint64_t cache, uint32_t count,                     \
           const ComputePipelineCreateInfo *infos, const void *allocator, Pipeline *pipelines)                         \
  FUNCTION(vkDestroyPipeline, void, LogicalDevice device, Pipeline pipeline, const void *allocator)                    \
  FUNCTION(vkCreateCommandPool, Result, LogicalDevice device, const CommandPoolCreateInfo *info,                       \
           const void *allocator, CommandPool *pool)                                                                   \
  FUNCTION(vkDestroyCommandPool, void, LogicalDevice device, CommandPool pool, const void *allocator)                  \
  FUNCTION(vkAllocateCommandBuffers, Result, LogicalDevice device, const CommandBufferAllocateInfo *info,              \
           CommandBuffer *commands)                                                                                    \
  FUNCTION(vkBeginCommandBuffer, Result, CommandBuffer commands, const CommandBufferBeginInfo *info)                   \
  FUNCTION(vkEndCommandBuffer, Result, CommandBuffer commands)                                                         \
  FUNCTION(vkCmdBindPipeline, void, CommandBuffer commands, uint32_t bindPoint, Pipeline pipeline)                     \
  FUNCTION(vkCmdPushConstants, void, CommandBuffer commands, PipelineLayout layout, uint32_t stages, uint32_t offset,  \
           uint32_t size, const void *values)                                                                          \
  FUNCTION(vkCmdDispatchIndirect, void, CommandBuffer commands, Buffer buffer, uint64_t offset)                        \
  FUNCTION(vkCmdPipelineBarrier, void, CommandBuffer commands, uint32_t sourceStages, uint32_t targetStages,           \
           uint32_t flags, uint32_t memoryCount, const MemoryBarrier *memory, uint32_t bufferCount,                    \
           const void *buffers, uint32_t imageCount, const void *images)                                               \
  FUNCTION(vkCmdCopyBuffer, void, CommandBuffer commands, Buffer source, Buffer target, uint32_t count,                \
           const BufferCopy *regions)                                                                                  \
  FUNCTION(vkCmdFillBuffer, void, CommandBuffer commands, Buffer target, uint64_t offset, uint64_t size,               \
           uint32_t value)                                                                                             \
  FUNCTION(vkCreateQueryPool, Result, LogicalDevice device, const QueryPoolCreateInfo *info, const void *allocator,    \
           QueryPool *pool)                                                                                            \
  FUNCTION(vkDestroyQueryPool, void, LogicalDevice device, QueryPool pool, const void *allocator)                      \
  FUNCTION(vkCmdResetQueryPool, void, CommandBuffer commands, QueryPool pool, uint32_t first, uint32_t count)          \
  FUNCTION(vkCmdWriteTimestamp, void, CommandBuffer commands, uint32_t stage, QueryPool pool, uint32_t query)          \
  FUNCTION(vkGetQueryPoolResults, Result, LogicalDevice device, QueryPool pool, uint32_t first, uint32_t count,        \
           size_t bytes, void *results, uint64_t stride, uint32_t flags)                                               \
  FUNCTION(vkCreateFence, Result, LogicalDevice device, const FenceCreateInfo *info, const void *allocator,            \
           Fence *fence)                                                                                               \
  FUNCTION(vkDestroyFence, void, LogicalDevice device, Fence fence, const void *allocator)                             \
  FUNCTION(vkResetFences, Result, LogicalDevice device, uint32_t count, const Fence *fences)                           \
  FUNCTION(vkWaitForFences, Result, LogicalDevice device, uint32_t count, const Fence *fences, uint32_t all,           \
           uint64_t nanoseconds)                                                                                       \
  FUNCTION(vkDeviceWaitIdle, Result, LogicalDevice device)

}  // namespace talc::vulkan
