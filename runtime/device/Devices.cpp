// SPDX-License-Identifier: Apache-2.0
// The table: a device is a folder, and a line here.
#include "runtime/device/Devices.h"

#include "runtime/device/cpu/CpuDevice.h"

namespace talc {

static const Device &(*const devices[])() = {cpuDevice};

const Device &defaultDevice() {
  return devices[0]();
}

}  // namespace talc
