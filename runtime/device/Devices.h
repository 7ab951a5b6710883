// SPDX-License-Identifier: Apache-2.0
// The devices that this runtime knows, and which one a model runs on.
#pragma once

#include "runtime/device/Device.h"

#include <string>
#include <vector>

namespace talc {

// What --devices says of a device.
struct DeviceInfo {
  std::string name;            // as users call it, such as "cuda:0"
  std::string description;     // what it is; empty: nobody knows
  uint64_t memory, available;  // bytes, all and free ones; 0: nobody knows
  std::string reason;          // why it cannot be used; empty: it can
  std::string emulation =
      "";  // what runs its code if it is no GPU: "software", or "emulated", whose time means nothing
};

// Devices of a kind, numbered from 0.
struct DeviceKind {
  // For kinds whose devices are alike.
  static Status chooseFirst(bool, int32_t &number) {
    number = 0;
    return {};
  }

  const char *name;  // as users call it
  // Whether code of a family (CodeHeader::family) is for such devices.
  bool (*takes)(const char *family);
  // Adds all that the machine has, or one that says why there is none.
  void (*list)(std::vector<DeviceInfo> &devices);
  // The number of the one that auto takes. Fails with DEVICE: there is none, or there is code for the processors as
  // well
  // (`elseProcessors`), and none is of more use.
  Status (*choose)(bool elseProcessors, int32_t &number);
  // Fails with DEVICE.
  Status (*open)(int32_t number, std::shared_ptr<const Device> &device);
};

// The table: a kind of device is a folder beside this file, and a line here and in Devices.cpp.
const DeviceKind &cpuDevices();  // the processors of this machine: weights are mapped, a step is a call on every thread
const DeviceKind &cudaDevices();    // NVIDIA GPUs
const DeviceKind &vulkanDevices();  // GPUs with Vulkan

std::vector<DeviceInfo> listDevices();

// A model on the device that was chosen for it.
struct ModelOnDevice {
  std::shared_ptr<const Device> device;
  std::unique_ptr<LoadedModel> model;
  std::string note;  // why it is not on a device that its code prefers; empty: it is
};

// `wanted`: auto, the name of a kind, or one with a number, such as cuda:1. auto takes the first kind of the table that
// the artifact has code for and that works.
Status loadOnDevice(const std::string &wanted, const Artifact &file, const artifact::ModelInfo &facts,
                    const UploadProgress &progress, ModelOnDevice &placed);

}  // namespace talc
