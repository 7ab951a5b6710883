// SPDX-License-Identifier: Apache-2.0
// PTX text becomes kernels; what the emulator says of it goes to the log of the JIT.
#include "test/ptx/Fault.h"
#include "test/ptx/driver/Interface.h"

#include <cstdio>
#include <fstream>
#include <iterator>

namespace talc::cuda {

static void writeLog(const std::string &text, unsigned count, const JitOption *options, void **values) {
  size_t size = 0;
  char *buffer = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitErrorLogBuffer)
      buffer = static_cast<char *>(values[i]);
    if (options[i] == JitErrorLogBufferBytes)
      size = reinterpret_cast<size_t>(values[i]);
  }
  if (buffer && size > 0)
    snprintf(buffer, size, "%s\n", text.c_str());
}

static std::string readText(const void *image, const std::string &file) {
  if (file.empty())
    return static_cast<const char *>(image);
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Result cuModuleLoadDataEx(Module *module, const void *image, unsigned count, JitOption *options, void **values) {
  FAKE_CUDA_ENTER();
  if (!driver.current)
    return InvalidContext;
  try {
    *module = new ModuleObject{{readText(image, driver.settings.textFile), driver.memory}, {}};
  } catch (const std::exception &fault) {
    writeLog(fault.what(), count, options, values);
    return InvalidPtx;
  }
  driver.modules.insert(*module);
  return Success;
}

Result cuModuleUnload(Module module) {
  ptx::Driver &driver = ptx::Driver::get();
  if (driver.modules.erase(module) == 0)
    return InvalidValue;
  driver.finishAll();
  delete module;
  return driver.enter(__func__);
}

Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  FAKE_CUDA_ENTER();
  const ptx::Kernel *kernel = module->module.find(name);
  if (!kernel)
    return NotFound;
  auto &object = module->functions[name];
  if (!object)
    object.reset(new FunctionObject{kernel, (48 << 10) - std::min<uint64_t>(kernel->sharedBytes, 48 << 10)});
  *function = object.get();
  return Success;
}

Result cuFuncGetAttribute(int32_t *value, FunctionAttribute attribute, Function function) {
  FAKE_CUDA_ENTER();
  *value = static_cast<int32_t>(attribute == FunctionSharedBytes             ? function->kernel->sharedBytes
                                : attribute == FunctionLocalBytes            ? function->kernel->localBytes
                                : attribute == FunctionMaxDynamicSharedBytes ? function->maxDynamicShared
                                                                             : 0);
  return Success;
}

Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int32_t value) {
  FAKE_CUDA_ENTER();
  constexpr uint64_t maxShared = 163 << 10;
  if (attribute != FunctionMaxDynamicSharedBytes || value < 0 ||
      static_cast<uint64_t>(value) + function->kernel->sharedBytes > maxShared)
    return InvalidValue;
  function->maxDynamicShared = static_cast<uint64_t>(value);
  return Success;
}

static Result launch(Function function, const ptx::LaunchShape &shape, Stream stream, void **parameters) {
  ptx::Driver &driver = ptx::Driver::get();
  const ptx::Kernel &kernel = *function->kernel;
  uint64_t threads = 1;
  for (uint32_t extent : shape.block)
    threads *= extent;
  const bool empty = shape.grid[0] == 0 || shape.grid[1] == 0 || shape.grid[2] == 0;
  if (empty || shape.grid[1] > 65535 || shape.grid[2] > 65535 || threads == 0 || threads > 1024 ||
      (kernel.maxThreads && threads > kernel.maxThreads) || shape.dynamicShared > function->maxDynamicShared)
    return InvalidValue;
  std::vector<unsigned char> values(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    memcpy(&values[kernel.parameters[i].offset], parameters[i], kernel.parameters[i].bytes);
  stream->add(
      [&driver, function, shape, values = std::move(values)] { return driver.runKernel(*function, shape, values); });
  return Success;
}

Result cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                      unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters,
                      void **) {
  FAKE_CUDA_ENTER();
  return launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, false}, stream, parameters);
}

// Shared memory limits occupancy, and 2 workgroups are the most.
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int32_t *blocks, Function function, int32_t, size_t dynamicBytes) {
  FAKE_CUDA_ENTER();
  constexpr uint64_t multiprocessorShared = 164 << 10;
  const uint64_t workgroupShared = std::max<uint64_t>(function->kernel->sharedBytes + dynamicBytes, 1);
  *blocks = static_cast<int32_t>(std::min<uint64_t>(multiprocessorShared / workgroupShared, 2));
  return Success;
}

Result cuLaunchCooperativeKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                 unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream,
                                 void **parameters) {
  FAKE_CUDA_ENTER();
  int32_t room = 0;
  if (Result result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&room, function, 0, sharedBytes); result != Success)
    return result;
  if (static_cast<uint64_t>(gridX) * gridY * gridZ > static_cast<uint64_t>(room) * driver.settings.processors)
    return CooperativeLaunchTooLarge;
  return launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, true}, stream, parameters);
}

}  // namespace talc::cuda
