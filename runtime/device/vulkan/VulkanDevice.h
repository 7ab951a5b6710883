// SPDX-License-Identifier: Apache-2.0
// GPUs with Vulkan as devices.
#pragma once

#include "runtime/device/Devices.h"

namespace talc {

const DeviceKind &vulkanDevices();

}  // namespace talc
