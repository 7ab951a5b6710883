// SPDX-License-Identifier: Apache-2.0
// The context is the GPU's primary one, which all of a process share.
#include "runtime/device/cuda/Gpu.h"

#include <cinttypes>

namespace talc::cuda {

static Status readGpu(const Driver &driver, int32_t number, GpuProperties &facts) {
  char name[128] = "";
  size_t memory = 0;
  Result result = driver.cuDeviceGet(&facts.device, number);
  auto then = [&](auto call) { result = result == Success ? call() : result; };
  then([&] { return driver.cuDeviceGetName(name, sizeof(name) - 1, facts.device); });
  then([&] { return driver.cuDeviceTotalMem_v2(&memory, facts.device); });
  then([&] { return driver.cuDeviceGetAttribute(&facts.major, CapabilityMajor, facts.device); });
  then([&] { return driver.cuDeviceGetAttribute(&facts.minor, CapabilityMinor, facts.device); });
  then([&] {
    return driver.cuDeviceGetAttribute(&facts.sharedPerWorkgroup, MaxSharedMemoryPerBlockOptin, facts.device);
  });
  then([&] { return driver.cuDeviceGetAttribute(&facts.processors, MultiprocessorCount, facts.device); });
  then([&] { return driver.cuDeviceGetAttribute(&facts.cooperative, CooperativeLaunch, facts.device); });
  facts.description = name;
  facts.memory = memory;
  if (result == Success)
    return {};
  return Status::failure(TALC_ERROR_DEVICE, "cuda:%d: the driver says nothing of it: %s", number,
                         driver.describe(result).c_str());
}

Status readGpus(const Driver &driver, std::vector<GpuProperties> &gpus) {
  int32_t count = 0;
  if (Result result = driver.cuDeviceGetCount(&count); result != Success)
    return Status::failure(TALC_ERROR_DEVICE, "cuda: the driver counts no GPUs: %s", driver.describe(result).c_str());
  gpus.resize(count > 0 ? static_cast<size_t>(count) : 0);
  for (size_t i = 0; i < gpus.size(); ++i)
    if (Status status = readGpu(driver, static_cast<int32_t>(i), gpus[i]); status.failed())
      return status;
  return {};
}

Gpu::Gpu(const Driver &driver, int32_t number, GpuProperties facts)
    : driver(driver), label("cuda:" + std::to_string(number)), properties(std::move(facts)) {}

Status Gpu::open(int32_t number, std::shared_ptr<const Gpu> &gpu) {
  const Driver *driver = nullptr;
  std::vector<GpuProperties> gpus;
  if (Status status = Driver::open(driver); status.failed())
    return status;
  if (Status status = readGpus(*driver, gpus); status.failed())
    return status;
  if (static_cast<size_t>(number) >= gpus.size())
    return Status::failure(TALC_ERROR_DEVICE, "cuda:%d: is not there: the driver has %zu GPU%s; see --devices", number,
                           gpus.size(), gpus.size() == 1 ? "" : "s");
  std::shared_ptr<Gpu> opened(new Gpu(*driver, number, gpus[static_cast<size_t>(number)]));
  if (Result result = driver->cuDevicePrimaryCtxRetain(&opened->context, opened->properties.device);
      result != Success) {
    opened->context = nullptr;
    return Status::failure(TALC_ERROR_DEVICE, "cuda:%d: cannot be used: %s", number, driver->describe(result).c_str());
  }
  gpu = std::move(opened);
  return {};
}

Gpu::~Gpu() {
  if (context)
    driver.cuDevicePrimaryCtxRelease_v2(properties.device);
}

Status Gpu::use() const {
  return check(driver.cuCtxSetCurrent(context), "it was chosen for the thread");
}

Status Gpu::check(Result result, const char *what) const {
  if (result == Success)
    return {};
  talc_status code = result == OutOfMemory ? TALC_ERROR_MEMORY : TALC_ERROR_DEVICE_FAILED;
  return Status::failure(code, "%s (%s): failed when %s: %s", label.c_str(), properties.description.c_str(), what,
                         driver.describe(result).c_str());
}

Status Gpu::available(uint64_t &bytes) const {
  size_t free = 0, total = 0;
  Status status = check(driver.cuMemGetInfo_v2(&free, &total), "asked for its memory");
  bytes = free;
  return status;
}

Status GpuMemory::reserve(uint64_t newBytes, const char *what) {
  if (newBytes <= bytes)
    return {};
  release();
  Result result = gpu.driver.cuMemAlloc_v2(&begin, newBytes);
  if (result == Success) {
    bytes = newBytes;
    return {};
  }
  begin = 0;
  uint64_t available = 0;
  if (result != OutOfMemory || gpu.available(available).failed())
    return gpu.check(result, "memory was taken");
  return Status::failure(TALC_ERROR_MEMORY,
                         "%s (%s): no memory for %s: %" PRIu64 " bytes, but %" PRIu64
                         " are free; use weights in a smaller format, fewer or shorter sequences, or --device=cpu",
                         gpu.name().c_str(), gpu.facts().description.c_str(), what, newBytes, available);
}

void GpuMemory::release() {
  if (begin) {
    (void)gpu.use();
    (void)gpu.driver.cuMemFree_v2(begin);
  }
  begin = 0;
  bytes = 0;
}

}  // namespace talc::cuda
