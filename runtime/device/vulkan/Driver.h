// SPDX-License-Identifier: Apache-2.0
// Vulkan's loader, opened when somebody asks for a GPU, and an instance: libvulkan.so.1 comes with the system, drivers
// come with their GPUs.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/vulkan/DriverApi.h"

#include <string>

namespace talc::vulkan {

class Driver {
public:
  // The process's one, opened by the first call. Fails with DEVICE: no loader, or one that is too old or does not
  // start.
  static Status open(const Driver *&driver);

  Instance instance = nullptr;

#define TALC_VULKAN_MEMBER(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  TALC_VULKAN_FUNCTIONS(TALC_VULKAN_MEMBER)
#undef TALC_VULKAN_MEMBER

private:
  Status load();
};

// "VK_ERROR_DEVICE_LOST"
std::string describe(Result result);

}  // namespace talc::vulkan
