// SPDX-License-Identifier: Apache-2.0
// The devices that this runtime knows.
#pragma once

#include "runtime/device/Device.h"

namespace talc {

// The one that models run on unless somebody chooses: the first of the table.
const Device &defaultDevice();

}  // namespace talc
