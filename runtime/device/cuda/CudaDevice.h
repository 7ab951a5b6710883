// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs as devices.
#pragma once

#include "runtime/device/Devices.h"

namespace talc {

const DeviceKind &cudaDevices();

}  // namespace talc
