// SPDX-License-Identifier: Apache-2.0
// A GPU that is open: its context, and how its failures are reported.
#pragma once

#include "runtime/device/cuda/Driver.h"

#include <memory>
#include <vector>

namespace talc::cuda {

// Properties of a GPU that can be read without opening it.
struct GpuProperties {
  Device device = 0;
  std::string description;  // NVIDIA H200
  int32_t major = 0, minor = 0;
  int32_t sharedPerWorkgroup = 0;  // bytes, at most
  int32_t processors = 0;          // each runs some workgroups at a time
  int32_t cooperative = 0;         // whether workgroups of a launch may wait for each other
  uint64_t memory = 0;
};

Status readGpus(const Driver &driver, std::vector<GpuProperties> &gpus);

class Gpu {
public:
  // The GPU with a number; fails with DEVICE.
  static Status open(int32_t number, std::shared_ptr<const Gpu> &gpu);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  // cuda:0
  const std::string &name() const { return label; }
  const GpuProperties &facts() const { return properties; }
  // Makes the GPU that of the calling thread. Every use of `driver` comes behind it.
  Status use() const;
  const Driver &driver;

  // OK, or what failed while `what`: of memory MEMORY, else DEVICE_FAILED.
  Status check(Result result, const char *what) const;
  // Bytes that are free now.
  Status available(uint64_t &bytes) const;

private:
  Gpu(const Driver &driver, int32_t number, GpuProperties facts);

  const std::string label;
  const GpuProperties properties;
  Context context = nullptr;
};

// Memory of a GPU.
class GpuMemory {
public:
  explicit GpuMemory(const Gpu &gpu) : gpu(gpu) {}
  ~GpuMemory() { release(); }
  GpuMemory(const GpuMemory &) = delete;
  GpuMemory &operator=(const GpuMemory &) = delete;

  // Gives up what was there, unless it suffices. Nothing is taken for 0 bytes. `what` is for the message.
  Status reserve(uint64_t bytes, const char *what);
  void release();
  Address address() const { return begin; }
  uint64_t size() const { return bytes; }

private:
  const Gpu &gpu;
  Address begin = 0;
  uint64_t bytes = 0;
};

}  // namespace talc::cuda
