// SPDX-License-Identifier: Apache-2.0
// The kernels of a model, which the driver compiles from PTX: those of a module when a step first needs one of them. It
// keeps what it made for the next time.
#pragma once

#include "runtime/device/cuda/Gpu.h"
#include "runtime/device/gpu/LaunchCode.h"

#include <mutex>

namespace talc::cuda {

class KernelModules {
public:
  // `target`: what the code is for. What is referred to must outlive this object.
  KernelModules(const Gpu &gpu, const LaunchCode &code, const std::string &file, const char *target)
      : gpu(gpu), code(code), file(file), target(target) {}
  ~KernelModules();
  KernelModules(const KernelModules &) = delete;
  KernelModules &operator=(const KernelModules &) = delete;

  // Before all else. Fails with DAMAGED.
  Status check();
  // After it function() has the kernel, or all that an entry's launches run. Any thread that uses the GPU may call
  // them; fails with DEVICE, DEVICE_FAILED, MEMORY or DAMAGED.
  Status loadKernel(uint32_t kernel);
  Status loadLaunches(const artifact::LaunchEntry &entry);
  Status loadAll();
  Function function(uint32_t kernel) const { return functions[kernel]; }

private:
  Status load(uint32_t module);
  Status loadModule(uint32_t index);
  Status findFunctions(uint32_t module);
  Status allowShared(const artifact::LaunchKernel &kernel, Function function) const;
  Status damaged(const std::string &what) const;

  const Gpu &gpu;
  const LaunchCode &code;
  const std::string &file;
  const char *const target;
  std::mutex loading;
  std::vector<Module> modules;      // null: not loaded
  std::vector<bool> isLoaded;       // modules whose functions were found
  std::vector<Function> functions;  // of kernels
};

}  // namespace talc::cuda
