// SPDX-License-Identifier: Apache-2.0
// A table of functions, and one instance for all GPUs.
#include "runtime/device/vulkan/Driver.h"

#include "runtime/device/gpu/DriverLibrary.h"

#include <mutex>

namespace talc::vulkan {

static const char *const installDriver = "install libvulkan1 and the driver of the GPU, or choose --device=cpu";

Status Driver::open(const Driver *&driver) {
  static std::mutex mutex;
  static Driver opened;
  static bool ready = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!ready)
    if (Status status = opened.load(); status.failed())
      return status;
  ready = true;
  driver = &opened;
  return {};
}

// Addresses of buffers are part of Vulkan since 1.2.
Status Driver::load() {
  using GetAddress = void *(*)(Instance, const char *);
  using CreateInstance = Result (*)(const InstanceCreateInfo *, const void *, Instance *);
  auto missing = [](const char *what) {
    return Status::failure(TALC_ERROR_DEVICE, "vulkan: %s; %s", what, installDriver);
  };
  void *library = nullptr;
  if (Status status = openDriverLibrary("libvulkan.so.1", "vulkan", "vulkan", installDriver, library); status.failed())
    return status;
  auto find = reinterpret_cast<GetAddress>(findInLibrary(library, "vkGetInstanceProcAddr"));
  auto create = find ? reinterpret_cast<CreateInstance>(find(nullptr, "vkCreateInstance")) : nullptr;
  if (!create)
    return missing("libvulkan.so.1 lacks vkCreateInstance");
  ApplicationInfo application;
  application.applicationName = application.engineName = "talc";
  application.apiVersion = version(1, 2);
  InstanceCreateInfo info;
  info.application = &application;
  if (!instance)
    if (Result result = create(&info, nullptr, &instance); result != Success) {
      instance = nullptr;
      return missing(("no instance of Vulkan 1.2 can be made: " + describe(result)).c_str());
    }
#define TALC_VULKAN_FIND(name, ...)                                                                                    \
  if (!(name = reinterpret_cast<decltype(name)>(find(instance, #name))))                                               \
    return missing("libvulkan.so.1 lacks " #name);
  TALC_VULKAN_FUNCTIONS(TALC_VULKAN_FIND)
#undef TALC_VULKAN_FIND
  return {};
}

std::string describe(Result result) {
  switch (result) {
  case Timeout:
    return "VK_TIMEOUT";
  case OutOfHostMemory:
    return "VK_ERROR_OUT_OF_HOST_MEMORY";
  case OutOfDeviceMemory:
    return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
  case InitializationFailed:
    return "VK_ERROR_INITIALIZATION_FAILED";
  case DeviceLost:
    return "VK_ERROR_DEVICE_LOST";
  case MemoryMapFailed:
    return "VK_ERROR_MEMORY_MAP_FAILED";
  case LayerNotPresent:
    return "VK_ERROR_LAYER_NOT_PRESENT";
  case ExtensionNotPresent:
    return "VK_ERROR_EXTENSION_NOT_PRESENT";
  case FeatureNotPresent:
    return "VK_ERROR_FEATURE_NOT_PRESENT";
  case IncompatibleDriver:
    return "VK_ERROR_INCOMPATIBLE_DRIVER";
  case TooManyObjects:
    return "VK_ERROR_TOO_MANY_OBJECTS";
  default:
    return "error " + std::to_string(result);
  }
}

}  // namespace talc::vulkan
