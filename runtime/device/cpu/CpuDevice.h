// SPDX-License-Identifier: Apache-2.0
// The processors of this machine as a device: weights are mapped, and a step is a call on every thread of a pool.
#pragma once

#include "runtime/device/Devices.h"

namespace talc {

const DeviceKind &cpuDevices();

}  // namespace talc
