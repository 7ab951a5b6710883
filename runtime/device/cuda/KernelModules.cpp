// SPDX-License-Identifier: Apache-2.0
// Loads texts, and looks for their kernels.
#include "runtime/device/cuda/KernelModules.h"

#include <algorithm>

namespace talc::cuda {

using artifact::LaunchKernel;

KernelModules::~KernelModules() {
  if (std::any_of(modules.begin(), modules.end(), [](Module module) { return module != nullptr; }))
    (void)card.use();
  for (Module module : modules)
    if (module)
      (void)card.driver.cuModuleUnload(module);
}

Status KernelModules::damaged(const std::string &what) const {
  return Status::failure(TALC_ERROR_DAMAGED, "%s: the code for %s: %s", file.c_str(), target, what.c_str());
}

Status KernelModules::check() {
  for (const std::string &text : code.texts())
    if (text.find('\0') != std::string::npos)
      return damaged("has a text with a NUL");
  modules.resize(code.texts().size());
  isLoaded.resize(code.texts().size());
  functions.resize(code.kernels().size());
  return {};
}

Status KernelModules::loadKernel(uint32_t kernel) {
  std::lock_guard lock(loading);
  return load(code.kernels()[kernel].text);
}

Status KernelModules::loadLaunches(const artifact::LaunchEntry &entry) {
  std::lock_guard lock(loading);
  Status status;
  for (uint32_t i = 0; i < entry.launchCount && !status.failed(); ++i)
    status = load(code.kernels()[code.launch(entry.firstLaunch + i).kernel].text);
  return status;
}

Status KernelModules::loadAll() {
  std::lock_guard lock(loading);
  Status status = card.use();
  for (uint32_t text = 0; text < modules.size() && !status.failed(); ++text)
    status = load(text);
  return status;
}

Status KernelModules::load(uint32_t text) {
  if (isLoaded[text])
    return {};
  if (Status status = loadModule(text); status.failed())
    return status;
  Status status = findFunctions(text);
  isLoaded[text] = !status.failed();
  return status;
}

Status KernelModules::loadModule(uint32_t text) {
  if (modules[text])
    return {};
  char log[512] = "";
  JitOption options[] = {JitErrorLogBuffer, JitErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Module module = nullptr;
  Result result = card.driver.cuModuleLoadDataEx(&module, code.texts()[text].c_str(), 2, options, values);
  if (result == Success) {
    modules[text] = module;
    return {};
  }
  if (result == OutOfMemory)
    return card.check(result, "it compiled the kernels");
  std::replace(std::begin(log), std::end(log), '\n', ' ');
  return Status::failure(TALC_ERROR_DEVICE, "%s: %s (%s) does not take the code for %s: %s %s", file.c_str(),
                         card.name().c_str(), card.facts().description.c_str(), target,
                         card.driver.describe(result).c_str(), log);
}

// Beyond 48 KiB a kernel has to ask for shared memory.
Status KernelModules::allowShared(const LaunchKernel &kernel, Function function) const {
  int32_t fixed = 0;
  if (Result result = card.driver.cuFuncGetAttribute(&fixed, FunctionSharedBytes, function); result != Success)
    return card.check(result, "asked for the shared memory of a kernel");
  const uint64_t needed = static_cast<uint64_t>(std::max(fixed, 0)) + kernel.dynamicBytes;
  const auto most = static_cast<uint64_t>(std::max(card.facts().sharedPerWorkgroup, 0));
  if (needed > most)
    return Status::failure(TALC_ERROR_DEVICE,
                           "%s: kernel %s needs %llu bytes of shared memory, but %s (%s) has %llu for a workgroup",
                           file.c_str(), kernel.name, static_cast<unsigned long long>(needed), card.name().c_str(),
                           card.facts().description.c_str(), static_cast<unsigned long long>(most));
  if (kernel.dynamicBytes == 0)
    return {};
  return card.check(card.driver.cuFuncSetAttribute(function, FunctionMaxDynamicSharedBytes,
                                                   static_cast<int32_t>(kernel.dynamicBytes)),
                    "a kernel was given shared memory");
}

Status KernelModules::findFunctions(uint32_t text) {
  for (size_t i = 0; i < functions.size(); ++i) {
    const LaunchKernel &kernel = code.kernels()[i];
    if (kernel.text != text)
      continue;
    Function function = nullptr;
    Result result = card.driver.cuModuleGetFunction(&function, modules[text], kernel.name);
    if (result == NotFound)
      return damaged(std::string("lacks the kernel '") + kernel.name + "'");
    if (Status status = card.check(result, "a kernel was looked for"); status.failed())
      return status;
    if (Status status = allowShared(kernel, function); status.failed())
      return status;
    functions[i] = function;
  }
  return {};
}

}  // namespace talc::cuda
