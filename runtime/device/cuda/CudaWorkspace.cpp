// SPDX-License-Identifier: Apache-2.0
// A step: one copy to the GPU, the launches of its entry, and a copy of the wanted results back. Launches that are
// those of the step before are one call (StepGraph.h), and a step of few tokens is one launch (PersistentStep.h).
#include "runtime/device/cuda/CudaWorkspace.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace talc::cuda {

using artifact::Launch;
using artifact::LaunchKernel;

CudaWorkspace::CudaWorkspace(const CudaModel &model, const WorkspaceOptions &options)
    : model(model), gpu(model.onGpu()), options(options), kvCache(gpu), arena(gpu), words(gpu), persistent(model),
      graph(gpu), clock(gpu) {
  for (int64_t i = 0; i < artifact::maxOutputs; ++i)
    outputs.emplace_back(gpu);
  for (Mapping &memory : fetched)
    memory.allocateFrom(options.allocator);
  uint32_t maxArguments = 0;
  for (const LaunchKernel &kernel : model.code().kernels())
    maxArguments = std::max(maxArguments, kernel.argumentCount);
  arguments.resize(maxArguments);
  for (uint64_t &argument : arguments)
    argumentPlaces.push_back(&argument);
}

CudaWorkspace::~CudaWorkspace() {
  if (stream) {
    (void)gpu.use();
    (void)gpu.driver.cuStreamSynchronize(stream);
    (void)gpu.driver.cuStreamDestroy_v2(stream);
  }
}

Status CudaWorkspace::create(const CudaModel &model, const WorkspaceOptions &options,
                             std::unique_ptr<Workspace> &workspace) {
  std::unique_ptr<CudaWorkspace> created(new CudaWorkspace(model, options));
  if (Status status = created->prepare(); status.failed())
    return status;
  workspace = std::move(created);
  return {};
}

// Code reads parts of the KV cache that no step has written: they are zero.
Status CudaWorkspace::prepare() {
  usedThreads = 1;
  if (Status status = gpu.use(); status.failed())
    return status;
  if (Status status = gpu.check(gpu.driver.cuStreamCreate(&stream, StreamNonBlocking), "a stream was made");
      status.failed()) {
    stream = nullptr;
    return status;
  }
  if (Status status = persistent.prepare(); status.failed())
    return status;
  uint64_t bytes = model.memoryFor(options.slots, 1, {}).kvCache;
  if (Status status = kvCache.reserve(bytes, "the KV cache"); status.failed() || bytes == 0)
    return status;
  if (Status status =
          gpu.check(gpu.driver.cuMemsetD8Async(kvCache.address(), 0, bytes, stream), "the KV cache was cleared");
      status.failed())
    return status;
  return finish("the KV cache was cleared");
}

Status CudaWorkspace::finish(const char *what) const {
  return gpu.check(gpu.driver.cuStreamSynchronize(stream), what);
}

Status CudaWorkspace::grow(const StepSize &size) {
  const artifact::ModelInfo &facts = model.info();
  const StepSize wanted = maxSize(size, room);
  room = {};  // what cannot grow is given up first
  if (Status status = gpu.use(); status.failed())
    return status;
  const uint64_t wordBytes = stepWordBytes(facts, wanted.tokens);
  uint64_t arenaBytes = model.memoryFor(options.slots, 1, wanted).temporaries;
  arenaBytes -= arenaBytes == UINT64_MAX ? 0 : wordBytes + persistent.bytes();
  if (Status status = arena.reserve(arenaBytes, "temporaries (divide the batch into smaller steps)"); status.failed())
    return status;
  if (Status status = words.reserve(wordBytes, "the tokens of a step"); status.failed())
    return status;
  stepWords.reserve(wordBytes / sizeof(int32_t));
  for (int32_t i = 0; i < artifact::maxOutputs; ++i) {
    uint64_t bytes = wanted.wanted[i] * facts.outputs[i].width * sizeof(float);
    if (Status status = outputs[i].reserve(bytes, "results (ask for fewer rows at a time)"); status.failed())
      return status;
    if (bytes > fetched[i].size() && !fetched[i].growZeros(bytes))
      return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for results: %" PRIu64 " bytes: %s",
                             model.name().c_str(), bytes, strerror(errno));
    hostResults[i] = reinterpret_cast<const float *>(fetched[i].data());
  }
  room = wanted;
  return {};
}

Status CudaWorkspace::readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const {
  if (Status status = gpu.use(); status.failed() || bytes == 0)
    return status;
  Address from = kvCache.address() + static_cast<uint64_t>(slot) * model.info().kvBytesPerSlot + offset;
  if (Status status = gpu.check(gpu.driver.cuMemcpyDtoHAsync_v2(target, from, bytes, stream), "a slot was saved");
      status.failed())
    return status;
  return finish("a slot was saved");
}

Status CudaWorkspace::writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) {
  if (Status status = gpu.use(); status.failed() || bytes == 0)
    return status;
  Address to = kvCache.address() + static_cast<uint64_t>(slot) * model.info().kvBytesPerSlot + offset;
  if (Status status = gpu.check(gpu.driver.cuMemcpyHtoDAsync_v2(to, source, bytes, stream), "a slot was loaded");
      status.failed())
    return status;
  return finish("a slot was loaded");
}

WorkspaceMemory CudaWorkspace::memory() const {
  uint64_t results = 0;
  for (const GpuMemory &memory : outputs)
    results += memory.size();
  return {kvCache.size(), arena.size() + words.size() + persistent.bytes(), results};
}

// ---- Steps

// The history of beams is the one part of a step that has no bound that is worth reserving. It grows with each step, so
// that more is reserved than this one needs.
Status CudaWorkspace::sendStep(const Step &step) {
  writeStepWords(step, stepWords);
  const uint64_t bytes = stepWords.size() * sizeof(int32_t);
  if (bytes > words.size())
    if (Status status = words.reserve(bytes + bytes / 2, "the tokens of a step"); status.failed())
      return status;
  return gpu.check(gpu.driver.cuMemcpyHtoDAsync_v2(words.address(), stepWords.data(), bytes, stream),
                   "a step was copied to it");
}

StepAddresses CudaWorkspace::addresses() const {
  StepAddresses addresses = {model.weights(), kvCache.address(), arena.address(), words.address(), {}};
  for (int64_t i = 0; i < artifact::maxOutputs; ++i)
    addresses.results[i] = outputs[i].address();
  return addresses;
}

Status CudaWorkspace::launch(const Launch &launch, const LaunchValues &values) {
  const LaunchKernel &kernel = model.code().kernels()[launch.kernel];
  const uint64_t workgroups = model.code().gridX(launch, values);
  if (workgroups == 0)
    return {};
  if (workgroups > INT32_MAX)
    return Status::failure(TALC_ERROR_MEMORY,
                           "%s: kernel %s: a step of %" PRIu64 " tokens is too large for %s; divide it",
                           model.name().c_str(), kernel.name, values.tokens, gpu.name().c_str());
  for (uint32_t i = 0; i < kernel.argumentCount; ++i)
    arguments[i] = model.code().value(launch, i, values);
  Result result =
      gpu.driver.cuLaunchKernel(model.function(launch.kernel), static_cast<unsigned>(workgroups), kernel.grid.y, 1,
                                kernel.threads, 1, 1, kernel.dynamicBytes, stream, argumentPlaces.data(), nullptr);
  if (result == Success)
    return {};
  return gpu.check(result, (std::string("kernel ") + kernel.name + " was launched").c_str());
}

Status CudaWorkspace::launchTimed(const Launch &next, const LaunchValues &values) {
  if (!measured || next.mark == UINT32_MAX)
    return launch(next, values);
  if (Status status = clock.begin(next.mark, stream); status.failed())
    return status;
  if (Status status = launch(next, values); status.failed())
    return status;
  return clock.end(stream);
}

Status CudaWorkspace::launchAll(const Step &step, const LaunchValues &values) {
  const artifact::LaunchEntry &entry = model.code().entries()[step.entry];
  Status status;
  for (uint32_t i = 0; i < entry.launchCount && !status.failed(); ++i)
    status = launch(model.code().launch(entry.firstLaunch + i), values);
  return status;
}

Status CudaWorkspace::askWhetherToEnd(const Step &step) const {
  if (!step.isAbortable || !options.ask || !options.ask(options.askUser))
    return {};
  return Status::failure(TALC_ERROR_ABORTED, "%s: the step was ended by should_abort", model.name().c_str());
}

Status CudaWorkspace::launchOneByOne(const Step &step, const LaunchValues &values) {
  const artifact::LaunchEntry &entry = model.code().entries()[step.entry];
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    const Launch &next = model.code().launch(entry.firstLaunch + i);
    if (Status status = askWhetherToEnd(step); status.failed())
      return status;
    if (Status status = launchTimed(next, values); status.failed())
      return status;
  }
  return {};
}

Status CudaWorkspace::start(const Step &step, const LaunchValues &values) {
  if (!measured && persistent.suits(step.entry, values)) {
    bool begun = false;
    Status status = askWhetherToEnd(step);
    status = status.failed() ? status : persistent.start(stream, begun);
    if (status.failed() || begun)
      return status;
  }
  if (Status status = model.loadLaunches(step.entry); status.failed())
    return status;
  if (measured || !graph.holds(step.entry, values, stream, [&] { return launchAll(step, values); }))
    return launchOneByOne(step, values);
  if (Status status = askWhetherToEnd(step); status.failed())
    return status;
  return graph.start(stream);
}

Status CudaWorkspace::fetchResults(const Step &step) {
  for (int32_t i = 0; i < artifact::maxOutputs; ++i) {
    uint64_t bytes = static_cast<uint64_t>(step.wanted[i].count) * model.info().outputs[i].width * sizeof(float);
    if (bytes == 0)
      continue;
    Result result = gpu.driver.cuMemcpyDtoHAsync_v2(fetched[i].data(), outputs[i].address(), bytes, stream);
    if (Status status = gpu.check(result, "results were copied from it"); status.failed())
      return status;
  }
  return {};
}

Status CudaWorkspace::run(const Step &step) {
  if (Status status = gpu.use(); status.failed())
    return status;
  if (Status status = sendStep(step); status.failed())
    return status;
  clock.restart();
  Status status = start(step, launchValues(step, addresses()));
  if (!status.failed())
    status = fetchResults(step);
  // Whatever was begun still reads the step and writes results.
  Status finished = finish("a step ran");
  if (status.failed() || finished.failed() || !measured)
    return status.failed() ? status : finished;
  return clock.read(measuredLaunches);
}

}  // namespace talc::cuda
