// SPDX-License-Identifier: Apache-2.0
// The driver compiles the kernels when a model is opened, and keeps what it made for the next time.
#include "runtime/device/cuda/CudaModel.h"

#include "runtime/device/cuda/CudaWorkspace.h"
#include "runtime/device/cuda/PersistentStep.h"
#include "runtime/device/gpu/StepMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace talc::cuda {

using artifact::LaunchKernel;

CudaModel::CudaModel(std::shared_ptr<const Card> onto, const std::string &file, const artifact::ModelInfo &facts,
                     const char *target)
    : GpuModel(std::move(onto), file, facts, target), stored(*card) {}

CudaModel::~CudaModel() {
  if (module) {
    (void)card->use();
    (void)card->driver.cuModuleUnload(module);
  }
}

Status CudaModel::loadCode(const unsigned char *bytes, uint64_t size) {
  if (Status status = readLaunches(bytes, size); status.failed())
    return status;
  if (launches.text().find('\0') != std::string::npos)
    return damaged("has a text with a NUL");
  if (Status status = card->use(); status.failed())
    return status;
  if (Status status = loadModule(); status.failed())
    return status;
  if (Status status = findFunctions(); status.failed())
    return status;
  for (Phase phase : {Phase::Encode, Phase::Prefill, Phase::Decode})
    if (Status status = findPersistent(phase); status.failed())
      return status;
  describeSteps();
  return {};
}

uint32_t CudaModel::rowsAtOnce(Phase phase) const {
  return persistentWorkgroups(phase) > 0 ? launches.phase(phase)->persistentRows : 0;
}

Status CudaModel::loadModule() {
  char log[512] = "";
  JitOption options[] = {JitErrorLogBuffer, JitErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Result result = card->driver.cuModuleLoadDataEx(&module, launches.text().c_str(), 2, options, values);
  if (result == Success)
    return {};
  module = nullptr;
  if (result == OutOfMemory)
    return card->check(result, "it compiled the kernels");
  std::replace(std::begin(log), std::end(log), '\n', ' ');
  return Status::failure(TALC_ERROR_DEVICE, "%s: %s (%s) does not take the code for %s: %s %s", file.c_str(),
                         card->name().c_str(), card->facts().description.c_str(), codeTarget,
                         card->driver.describe(result).c_str(), log);
}

// Beyond 48 KiB a kernel has to ask for shared memory.
Status CudaModel::allowShared(const LaunchKernel &kernel, Function function) {
  int32_t fixed = 0;
  if (Result result = card->driver.cuFuncGetAttribute(&fixed, FunctionSharedBytes, function); result != Success)
    return card->check(result, "asked for the shared memory of a kernel");
  const uint64_t needed = static_cast<uint64_t>(std::max(fixed, 0)) + kernel.dynamicBytes;
  const auto most = static_cast<uint64_t>(std::max(card->facts().sharedPerWorkgroup, 0));
  if (needed > most)
    return Status::failure(TALC_ERROR_DEVICE,
                           "%s: kernel %s needs %llu bytes of shared memory, but %s (%s) has %llu for a workgroup",
                           file.c_str(), kernel.name, static_cast<unsigned long long>(needed), card->name().c_str(),
                           card->facts().description.c_str(), static_cast<unsigned long long>(most));
  if (kernel.dynamicBytes == 0)
    return {};
  return card->check(card->driver.cuFuncSetAttribute(function, FunctionMaxDynamicSharedBytes,
                                                     static_cast<int32_t>(kernel.dynamicBytes)),
                     "a kernel was given shared memory");
}

Status CudaModel::findFunctions() {
  for (const LaunchKernel &kernel : launches.kernels()) {
    Function function = nullptr;
    Result result = card->driver.cuModuleGetFunction(&function, module, kernel.name);
    if (result == NotFound)
      return damaged(std::string("lacks the kernel '") + kernel.name + "'");
    if (Status status = card->check(result, "a kernel was looked for"); status.failed())
      return status;
    if (Status status = allowShared(kernel, function); status.failed())
      return status;
    functions.push_back(function);
  }
  return {};
}

// The variable is for tests, and to see what the other form is worth.
Status CudaModel::findPersistent(Phase phase) {
  const artifact::LaunchPhase *table = launches.phase(phase);
  const char *form = getenv("TALC_CUDA_STEP");
  if (!table || table->persistentKernel == artifact::noKernel || !card->facts().cooperative ||
      (form && strcmp(form, "launches") == 0))
    return {};
  const LaunchKernel &kernel = launches.kernels()[table->persistentKernel];
  int32_t perProcessor = 0;
  Result result = card->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &perProcessor, functions[table->persistentKernel], static_cast<int32_t>(kernel.threads), kernel.dynamicBytes);
  if (Status status = card->check(result, "asked for the room that a kernel needs"); status.failed())
    return status;
  int64_t workgroups = static_cast<int64_t>(perProcessor) * card->facts().processors;
  workgroupsAtOnce[static_cast<size_t>(phase)] =
      static_cast<uint32_t>(std::clamp<int64_t>(workgroups, 0, PersistentStep::mostWorkgroups));
  return {};
}

Status CudaModel::loadWeights(const unsigned char *bytes, const UploadProgress &progress) {
  constexpr uint64_t part = 64 << 20;
  const uint64_t total = facts.weightBytes;
  if (Status status = stored.reserve(total, "the weights"); status.failed())
    return status;
  Stream stream = nullptr;
  if (Status status = card->check(card->driver.cuStreamCreate(&stream, 0), "a stream was made"); status.failed())
    return status;
  Result result = Success;
  for (uint64_t done = 0; done < total && result == Success;) {
    uint64_t count = std::min(part, total - done);
    result = card->driver.cuMemcpyHtoDAsync_v2(stored.address() + done, bytes + done, count, stream);
    result = result == Success ? card->driver.cuStreamSynchronize(stream) : result;
    done += count;
    progress.report(done, total);
  }
  card->driver.cuStreamDestroy_v2(stream);
  return card->check(result, "weights were copied to it");
}

WorkspaceMemory CudaModel::memoryFor(int32_t slots, int32_t, const StepSize &size) const {
  WorkspaceMemory memory = gpuMemoryFor(facts, slots, size);
  memory.temporaries = multiplyAdd(PersistentStep::bytesFor(*this), 1, memory.temporaries);
  return memory;
}

Status CudaModel::createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const {
  return CudaWorkspace::create(*this, options, workspace);
}

}  // namespace talc::cuda
