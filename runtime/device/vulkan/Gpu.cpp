// SPDX-License-Identifier: Apache-2.0
// What a GPU must have: Vulkan 1.2, addresses of buffers, and numbers of 8, 16 and 64 bits.
#include "runtime/device/vulkan/Gpu.h"

#include <cstring>

namespace talc::vulkan {

namespace {

// A chain that is asked for as a whole.
struct Features {
  Features() {
    all.next = &storage16;
    storage16.next = &storage8;
    storage8.next = &small;
    small.next = &address;
  }
  Features(const Features &) = delete;

  Features2 all;
  Storage16Features storage16;
  Storage8Features storage8;
  Float16Int8Features small;
  BufferDeviceAddressFeatures address;

  // fn(its name, the flag) for every feature that code uses.
  template <typename Function> void eachNeeded(Function fn) {
    fn("shaderInt64", all.shaderInt64);
    fn("shaderInt16", all.shaderInt16);
    fn("storageBuffer16BitAccess", storage16.storageBuffer16BitAccess);
    fn("storageBuffer8BitAccess", storage8.storageBuffer8BitAccess);
    fn("shaderFloat16", small.shaderFloat16);
    fn("shaderInt8", small.shaderInt8);
    fn("bufferDeviceAddress", address.bufferDeviceAddress);
  }
};

}  // namespace

static std::string findLack(const Driver &driver, const GpuProperties &gpu, bool hasQueue) {
  if (gpu.apiVersion < version(1, 2))
    return "has Vulkan " + std::to_string(gpu.apiVersion >> 22) + "." + std::to_string(gpu.apiVersion >> 12 & 1023) +
           ", but 1.2 is needed; install a newer driver";
  if (!hasQueue)
    return "has no queue for computations";
  Features features;
  driver.vkGetPhysicalDeviceFeatures2(gpu.device, &features.all);
  std::string lack;
  features.eachNeeded([&](const char *name, uint32_t has) {
    if (!has && lack.empty())
      lack = std::string("lacks the feature ") + name;
  });
  return lack;
}

static bool findQueue(const Driver &driver, GpuProperties &gpu) {
  uint32_t count = 0;
  driver.vkGetPhysicalDeviceQueueFamilyProperties(gpu.device, &count, nullptr);
  std::vector<QueueFamilyProperties> families(count);
  driver.vkGetPhysicalDeviceQueueFamilyProperties(gpu.device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i)
    if (families[i].flags & queueCompute) {
      gpu.queueFamily = i;
      gpu.timestampBits = families[i].timestampBits;
      return true;
    }
  return false;
}

static GpuProperties readGpu(const Driver &driver, PhysicalDevice device) {
  GpuProperties gpu;
  Properties2 properties;
  Maintenance3Properties sizes;
  properties.next = &sizes;
  gpu.device = device;
  driver.vkGetPhysicalDeviceProperties2(device, &properties);
  driver.vkGetPhysicalDeviceMemoryProperties2(device, &gpu.memoryTypes);
  properties.deviceName[sizeof(properties.deviceName) - 1] = 0;
  gpu.description = properties.deviceName;
  gpu.apiVersion = properties.apiVersion;
  gpu.type = properties.deviceType;
  gpu.largestBuffer = sizes.maxMemoryAllocationSize;
  gpu.timestampSeconds = 1e-9 * properties.limits.timestampPeriod;
  gpu.sharedPerWorkgroup = properties.limits.maxComputeSharedMemorySize;
  gpu.threadsPerWorkgroup =
      std::min(properties.limits.maxComputeWorkGroupInvocations, properties.limits.maxComputeWorkGroupSize[0]);
  gpu.workgroupsInX = properties.limits.maxComputeWorkGroupCount[0];
  gpu.workgroupsInY = properties.limits.maxComputeWorkGroupCount[1];
  for (uint32_t i = 0; i < std::min(gpu.memoryTypes.heapCount, 16U); ++i)
    if (gpu.memoryTypes.heaps[i].flags & memoryDeviceLocal)
      gpu.memory += gpu.memoryTypes.heaps[i].size;
  bool hasQueue = findQueue(driver, gpu);
  gpu.lack = findLack(driver, gpu, hasQueue);
  return gpu;
}

Status readGpus(const Driver &driver, std::vector<GpuProperties> &gpus) {
  uint32_t count = 0;
  Result result = driver.vkEnumeratePhysicalDevices(driver.instance, &count, nullptr);
  std::vector<PhysicalDevice> devices(result == Success ? count : 0);
  if (result == Success && count > 0)
    result = driver.vkEnumeratePhysicalDevices(driver.instance, &count, devices.data());
  if (result != Success)
    return Status::failure(TALC_ERROR_DEVICE, "vulkan: the loader counts no GPUs: %s", describe(result).c_str());
  if (count == 0)
    return Status::failure(TALC_ERROR_DEVICE, "vulkan: no GPU has a driver; install one, or choose --device=cpu");
  for (PhysicalDevice device : devices)
    gpus.push_back(readGpu(driver, device));
  return {};
}

static bool hasExtension(const Driver &driver, PhysicalDevice device, const char *name) {
  uint32_t count = 0;
  if (driver.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != Success)
    return false;
  std::vector<ExtensionProperties> all(count);
  if (driver.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data()) != Success)
    return false;
  for (const ExtensionProperties &extension : all)
    if (strncmp(extension.name, name, sizeof(extension.name)) == 0)
      return true;
  return false;
}

uint64_t availableMemory(const Driver &driver, const GpuProperties &gpu) {
  if (!hasExtension(driver, gpu.device, "VK_EXT_memory_budget"))
    return 0;
  MemoryProperties2 properties;
  MemoryBudgetProperties budget;
  properties.next = &budget;
  driver.vkGetPhysicalDeviceMemoryProperties2(gpu.device, &properties);
  uint64_t free = 0;
  for (uint32_t i = 0; i < std::min(properties.heapCount, 16U); ++i)
    if (properties.heaps[i].flags & memoryDeviceLocal && budget.budget[i] > budget.usage[i])
      free += budget.budget[i] - budget.usage[i];
  return free;
}

Gpu::Gpu(const Driver &driver, int32_t number, GpuProperties facts)
    : driver(driver), label("vulkan:" + std::to_string(number)), properties(std::move(facts)) {}

Result Gpu::makeDevice() {
  const float priority = 1;
  DeviceQueueCreateInfo queues;
  queues.family = properties.queueFamily;
  queues.count = 1;
  queues.priorities = &priority;
  Features features;
  features.eachNeeded([](const char *, uint32_t &has) { has = 1; });
  DeviceCreateInfo info;
  info.next = &features.all;
  info.queueCount = 1;
  info.queues = &queues;
  if (Result result = driver.vkCreateDevice(properties.device, &info, nullptr, &device); result != Success) {
    device = nullptr;
    return result;
  }
  driver.vkGetDeviceQueue(device, properties.queueFamily, 0, &queue);
  return Success;
}

Status Gpu::open(int32_t number, std::shared_ptr<const Gpu> &gpu) {
  const Driver *driver = nullptr;
  std::vector<GpuProperties> gpus;
  if (Status status = Driver::open(driver); status.failed())
    return status;
  if (Status status = readGpus(*driver, gpus); status.failed())
    return status;
  if (static_cast<size_t>(number) >= gpus.size())
    return Status::failure(TALC_ERROR_DEVICE, "vulkan:%d: is not there: the drivers have %zu GPU%s; see --devices",
                           number, gpus.size(), gpus.size() == 1 ? "" : "s");
  const GpuProperties &facts = gpus[static_cast<size_t>(number)];
  if (!facts.lack.empty())
    return Status::failure(TALC_ERROR_DEVICE, "vulkan:%d: cannot be used: %s %s", number, facts.description.c_str(),
                           facts.lack.c_str());
  std::shared_ptr<Gpu> opened(new Gpu(*driver, number, facts));
  if (Result result = opened->makeDevice(); result != Success)
    return Status::failure(TALC_ERROR_DEVICE, "vulkan:%d: cannot be used: %s: %s", number, facts.description.c_str(),
                           describe(result).c_str());
  gpu = std::move(opened);
  return {};
}

Gpu::~Gpu() {
  if (device)
    driver.vkDestroyDevice(device, nullptr);
}

Status Gpu::check(Result result, const char *what) const {
  if (result == Success)
    return {};
  bool memory = result == OutOfDeviceMemory || result == OutOfHostMemory;
  return Status::failure(memory ? TALC_ERROR_MEMORY : TALC_ERROR_DEVICE_FAILED, "%s (%s): failed when %s: %s",
                         label.c_str(), properties.description.c_str(), what, describe(result).c_str());
}

void Gpu::waitForAll() const {
  const std::lock_guard<std::mutex> lock(queueMutex);
  (void)driver.vkDeviceWaitIdle(device);
}

Result Gpu::submit(CommandBuffer commands, Fence fence) const {
  SubmitInfo info;
  info.commandCount = 1;
  info.commands = &commands;
  const std::lock_guard<std::mutex> lock(queueMutex);
  return driver.vkQueueSubmit(queue, 1, &info, fence);
}

}  // namespace talc::vulkan
