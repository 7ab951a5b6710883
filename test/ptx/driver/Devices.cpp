// SPDX-License-Identifier: Apache-2.0
// GPUs and their contexts.
#include "test/ptx/driver/Interface.h"

#include <cstdio>

namespace talc::cuda {

Result cuInit(unsigned) {
  ptx::Driver &driver = ptx::Driver::get();
  if (Result failure = driver.enter(__func__); failure != Success)
    return failure;
  driver.initialized = true;
  return driver.settings.devices > 0 ? Success : NoDevice;
}

Result cuDriverGetVersion(int32_t *version) {
  ptx::Driver &driver = ptx::Driver::get();
  *version = driver.settings.version;
  return driver.enter(__func__);
}

Result cuGetErrorName(Result error, const char **name) {
  static const std::map<int32_t, const char *> names = {{InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                        {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                        {NoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                        {InvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                        {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                        {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
                                                        {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
                                                        {NotFound, "CUDA_ERROR_NOT_FOUND"}};
  auto it = names.find(error);
  *name = it == names.end() ? "CUDA_ERROR_UNKNOWN" : it->second;
  return Success;
}

Result cuGetErrorString(Result error, const char **text) {
  return cuGetErrorName(error, text);
}

Result cuDeviceGetCount(int32_t *count) {
  FAKE_CUDA_ENTER();
  *count = driver.settings.devices;
  return Success;
}

Result cuDeviceGet(Device *device, int32_t ordinal) {
  FAKE_CUDA_ENTER();
  *device = ordinal;
  return ordinal >= 0 && ordinal < driver.settings.devices ? Success : InvalidDevice;
}

Result cuDeviceGetName(char *name, int32_t size, Device device) {
  FAKE_CUDA_ENTER();
  snprintf(name, static_cast<size_t>(size), "PTX emulator %d", device);
  return Success;
}

Result cuDeviceTotalMem_v2(size_t *bytes, Device) {
  FAKE_CUDA_ENTER();
  *bytes = driver.settings.memory;
  return Success;
}

Result cuDeviceGetAttribute(int32_t *value, DeviceAttribute attribute, Device) {
  FAKE_CUDA_ENTER();
  const std::map<int32_t, int32_t> values = {{MaxSharedMemoryPerBlock, 48 << 10},
                                             {MaxSharedMemoryPerBlockOptin, 163 << 10},
                                             {MultiprocessorCount, driver.settings.processors},
                                             {CooperativeLaunch, driver.settings.processors > 0}};
  auto it = values.find(attribute);
  *value = attribute == CapabilityMajor   ? driver.settings.capability / 10
           : attribute == CapabilityMinor ? driver.settings.capability % 10
           : it == values.end()           ? 0
                                          : it->second;
  return Success;
}

Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  FAKE_CUDA_ENTER();
  *context = &driver.contexts.at(static_cast<size_t>(device));
  ++(*context)->users;
  return Success;
}

Result cuDevicePrimaryCtxRelease_v2(Device device) {
  ptx::Driver &driver = ptx::Driver::get();
  --driver.contexts.at(static_cast<size_t>(device)).users;
  return driver.enter(__func__);
}

Result cuCtxSetCurrent(Context context) {
  FAKE_CUDA_ENTER();
  driver.current = context;
  return Success;
}

}  // namespace talc::cuda
