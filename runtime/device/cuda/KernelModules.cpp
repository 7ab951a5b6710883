// SPDX-License-Identifier: Apache-2.0
// Loads modules and looks up their kernels.
#include "runtime/device/cuda/KernelModules.h"

#include <algorithm>

namespace talc::cuda {

using artifact::LaunchKernel;

KernelModules::~KernelModules() {
  if (std::any_of(modules.begin(), modules.end(), [](Module module) { return module != nullptr; }))
    (void)gpu.use();
  for (Module module : modules)
    if (module)
      (void)gpu.driver.cuModuleUnload(module);
}

Status KernelModules::damaged(const std::string &what) const {
  return Status::failure(TALC_ERROR_DAMAGED, "%s: the code for %s: %s", file.c_str(), target, what.c_str());
}

Status KernelModules::check() {
  for (const std::string &ptx : code.modules())
    if (ptx.find('\0') != std::string::npos)
      return damaged("has a module with a NUL");
  modules.resize(code.modules().size());
  isLoaded.resize(code.modules().size());
  functions.resize(code.kernels().size());
  return {};
}

Status KernelModules::loadKernel(uint32_t kernel) {
  std::lock_guard lock(loading);
  return load(code.kernels()[kernel].module);
}

Status KernelModules::loadLaunches(const artifact::LaunchEntry &entry) {
  std::lock_guard lock(loading);
  Status status;
  for (uint32_t i = 0; i < entry.launchCount && !status.failed(); ++i)
    status = load(code.kernels()[code.launch(entry.firstLaunch + i).kernel].module);
  return status;
}

Status KernelModules::loadAll() {
  std::lock_guard lock(loading);
  Status status = gpu.use();
  for (uint32_t module = 0; module < modules.size() && !status.failed(); ++module)
    status = load(module);
  return status;
}

Status KernelModules::load(uint32_t module) {
  if (isLoaded[module])
    return {};
  if (Status status = loadModule(module); status.failed())
    return status;
  Status status = findFunctions(module);
  isLoaded[module] = !status.failed();
  return status;
}

Status KernelModules::loadModule(uint32_t index) {
  if (modules[index])
    return {};
  char log[512] = "";
  JitOption options[] = {JitErrorLogBuffer, JitErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Module module = nullptr;
  Result result = gpu.driver.cuModuleLoadDataEx(&module, code.modules()[index].c_str(), 2, options, values);
  if (result == Success) {
    modules[index] = module;
    return {};
  }
  if (result == OutOfMemory)
    return gpu.check(result, "it compiled the kernels");
  std::replace(std::begin(log), std::end(log), '\n', ' ');
  return Status::failure(TALC_ERROR_DEVICE, "%s: %s (%s) does not take the code for %s: %s %s", file.c_str(),
                         gpu.name().c_str(), gpu.facts().description.c_str(), target,
                         gpu.driver.describe(result).c_str(), log);
}

// Beyond 48 KiB a kernel has to ask for shared memory.
Status KernelModules::allowShared(const LaunchKernel &kernel, Function function) const {
  int32_t fixed = 0;
  if (Result result = gpu.driver.cuFuncGetAttribute(&fixed, FunctionSharedBytes, function); result != Success)
    return gpu.check(result, "asked for the shared memory of a kernel");
  const uint64_t sharedBytes = static_cast<uint64_t>(std::max(fixed, 0)) + kernel.dynamicBytes;
  const auto available = static_cast<uint64_t>(std::max(gpu.facts().sharedPerWorkgroup, 0));
  if (sharedBytes > available)
    return Status::failure(TALC_ERROR_DEVICE,
                           "%s: kernel %s needs %llu bytes of shared memory, but %s (%s) has %llu for a workgroup",
                           file.c_str(), kernel.name, static_cast<unsigned long long>(sharedBytes), gpu.name().c_str(),
                           gpu.facts().description.c_str(), static_cast<unsigned long long>(available));
  if (kernel.dynamicBytes == 0)
    return {};
  return gpu.check(
      gpu.driver.cuFuncSetAttribute(function, FunctionMaxDynamicSharedBytes, static_cast<int32_t>(kernel.dynamicBytes)),
      "a kernel was given shared memory");
}

Status KernelModules::findFunctions(uint32_t module) {
  for (size_t i = 0; i < functions.size(); ++i) {
    const LaunchKernel &kernel = code.kernels()[i];
    if (kernel.module != module)
      continue;
    Function function = nullptr;
    Result result = gpu.driver.cuModuleGetFunction(&function, modules[module], kernel.name);
    if (result == NotFound)
      return damaged(std::string("lacks the kernel '") + kernel.name + "'");
    if (Status status = gpu.check(result, "a kernel was looked for"); status.failed())
      return status;
    if (Status status = allowShared(kernel, function); status.failed())
      return status;
    functions[i] = function;
  }
  return {};
}

}  // namespace talc::cuda
