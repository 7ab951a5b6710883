// SPDX-License-Identifier: Apache-2.0
// Lists the devices that this runtime knows, and chooses the one that a model runs on.
#pragma once

#include "runtime/device/Device.h"

#include <string>
#include <vector>

namespace talc {

// The properties of a device that --devices prints.
struct DeviceInfo {
  std::string name;            // for users, such as "cuda:0"
  std::string description;     // empty: unknown
  uint64_t memory, available;  // bytes in all, and free; 0: unknown
  std::string reason;          // why it cannot be used; empty: it can be used
  std::string emulation =
      "";  // what runs its code if it is not a GPU: "software", or "emulated", whose times mean nothing
};

// A kind of device; devices of a kind are numbered from 0.
struct DeviceKind {
  // For kinds whose devices are alike.
  static Status chooseFirst(bool, int32_t &number) {
    number = 0;
    return {};
  }

  const char *name;  // for users
  // Whether code of this family (CodeHeader::family) is for such devices.
  bool (*takes)(const char *family);
  // Appends all devices of the machine, or one entry that says why there is none.
  void (*list)(std::vector<DeviceInfo> &devices);
  // Chooses the number of the device that `auto` means. Fails with DEVICE if there is none, or if none is better than
  // the CPU and the artifact has code for that, too (`hasCpuCode`).
  Status (*choose)(bool hasCpuCode, int32_t &number);
  // Fails with DEVICE.
  Status (*open)(int32_t number, std::shared_ptr<const Device> &device);
};

// The table: a kind of device is a folder beside this file, and a line here and in Devices.cpp.
const DeviceKind &cpuDevices();     // the CPU of this machine: weights are mapped, a step is a call on every thread
const DeviceKind &cudaDevices();    // NVIDIA GPUs
const DeviceKind &vulkanDevices();  // GPUs with Vulkan

std::vector<DeviceInfo> listDevices();

// A model on the device that was chosen for it.
struct ModelOnDevice {
  std::shared_ptr<const Device> device;
  std::unique_ptr<LoadedModel> model;
  std::string note;  // why it is not on a device that its code prefers; empty: it is
};

// `deviceName`: auto, the name of a kind, or one with a number, such as cuda:1. auto means the first kind of the table
// that the artifact has code for and that works.
Status loadOnDevice(const std::string &deviceName, const Artifact &file, const artifact::ModelInfo &facts,
                    const UploadProgress &progress, ModelOnDevice &placed);

}  // namespace talc
