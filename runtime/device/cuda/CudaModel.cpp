// SPDX-License-Identifier: Apache-2.0
// Opens a model: what its steps begin with is compiled, so that a GPU that does not take the code is known at once.
#include "runtime/device/cuda/CudaModel.h"

#include "runtime/device/cuda/CudaWorkspace.h"
#include "runtime/device/cuda/PersistentStep.h"
#include "runtime/device/gpu/StepMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace talc::cuda {

using artifact::LaunchKernel;

CudaModel::CudaModel(std::shared_ptr<const Gpu> onto, const std::string &file, const artifact::ModelInfo &facts,
                     const char *target)
    : GpuModel(std::move(onto), file, facts, target), modules(*gpu, launches, file, target), stored(*gpu) {}

Status CudaModel::loadCode(const unsigned char *bytes, uint64_t size) {
  if (Status status = readLaunches(bytes, size); status.failed())
    return status;
  if (Status status = modules.check(); status.failed())
    return status;
  if (Status status = gpu->use(); status.failed())
    return status;
  workgroupsAtOnce.resize(launches.entries().size());
  for (size_t i = 0; i < launches.entries().size(); ++i) {
    const auto entry = static_cast<EntryIndex>(i);
    Status status = findPersistent(entry);
    if (!status.failed() && persistentWorkgroups(entry) == 0)
      status = loadLaunches(entry);
    if (status.failed())
      return status;
  }
  describeSteps();
  return {};
}

uint32_t CudaModel::tokensAtOnce(EntryIndex entry) const {
  return persistentWorkgroups(entry) > 0 ? launches.entries()[entry].persistentTokens : 0;
}

// The variable is for tests, and to see what the other form is worth.
Status CudaModel::findPersistent(EntryIndex entry) {
  const artifact::LaunchEntry &table = launches.entries()[entry];
  const char *form = getenv("TALC_CUDA_STEP");
  if (table.persistentKernel == artifact::noKernel || !gpu->facts().cooperative ||
      (form && strcmp(form, "launches") == 0))
    return {};
  const LaunchKernel &kernel = launches.kernels()[table.persistentKernel];
  if (Status status = modules.loadKernel(table.persistentKernel); status.failed())
    return status;
  int32_t perProcessor = 0;
  Result result = gpu->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &perProcessor, function(table.persistentKernel), static_cast<int32_t>(kernel.threads), kernel.dynamicBytes);
  if (Status status = gpu->check(result, "asked for the room that a kernel needs"); status.failed())
    return status;
  int64_t workgroups = static_cast<int64_t>(perProcessor) * gpu->facts().processors;
  workgroupsAtOnce[entry] = static_cast<uint32_t>(std::clamp<int64_t>(workgroups, 0, PersistentStep::maxWorkgroups));
  return {};
}

Status CudaModel::loadWeights(const ModelWeights &weights, const UploadProgress &progress) {
  constexpr uint64_t part = 64 << 20;
  const uint64_t total = facts.weightBytes;
  if (Status status = stored.reserve(total, "the weights"); status.failed())
    return status;
  Stream stream = nullptr;
  if (Status status = gpu->check(gpu->driver.cuStreamCreate(&stream, 0), "a stream was made"); status.failed())
    return status;
  Result result = Success;
  for (uint64_t done = 0; done < total && result == Success;) {
    const ModelWeights::Run run = weights.read(done, part);
    result = gpu->driver.cuMemcpyHtoDAsync_v2(stored.address() + done, run.bytes, run.count, stream);
    result = result == Success ? gpu->driver.cuStreamSynchronize(stream) : result;
    done += run.count;
    progress.report(done, total);
  }
  gpu->driver.cuStreamDestroy_v2(stream);
  return gpu->check(result, "weights were copied to it");
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
