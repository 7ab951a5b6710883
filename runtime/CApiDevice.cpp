// SPDX-License-Identifier: Apache-2.0
// Implements the section Devices of talc.h.
#include "runtime/CApiTypes.h"
#include "runtime/StructSize.h"
#include "runtime/device/Devices.h"

#include <cstdio>

using talc::report;
using talc::wrongArgument;

int32_t talc_device_count(void) try { return static_cast<int32_t>(talc::listDevices().size()); } catch (...) {
  return 0;
}

template <size_t capacity> static void copyText(const std::string &text, char (&target)[capacity]) {
  snprintf(target, capacity, "%s", text.c_str());
}

talc_status talc_device_get_info(int32_t index, talc_device_info *info, talc_error *error) try {
  if (!info)
    return wrongArgument(__func__, "info is NULL", error);
  const std::vector<talc::DeviceInfo> devices = talc::listDevices();
  if (index < 0 || static_cast<size_t>(index) >= devices.size())
    return wrongArgument(__func__, "no device has this index", error);
  const talc::DeviceInfo &facts = devices[static_cast<size_t>(index)];
  talc_device_info whole = {};
  copyText(facts.name, whole.name);
  copyText(facts.description, whole.description);
  copyText(facts.reason, whole.reason);
  whole.memory = facts.memory;
  whole.memory_available = facts.available;
  return report(talc::writeStruct(whole, sizeof(talc_device_info), "talc_device_info", info), error);
} catch (...) {
  return talc::refusedMemory(error);
}
