// SPDX-License-Identifier: Apache-2.0
// A step: its tables and arguments are written where the GPU sees them, and the commands of its entry run. Results
// are written where the host sees them.
#include "runtime/device/vulkan/VulkanWorkspace.h"

#include <cinttypes>
#include <cstring>

namespace talc::vulkan {

using artifact::Launch;
using artifact::LaunchBase;
using artifact::LaunchEntry;
using artifact::LaunchKernel;

// The number of launches after which a step can be ended.
constexpr uint32_t launchesOfPart = 64;

VulkanWorkspace::VulkanWorkspace(const VulkanModel &model, const WorkspaceOptions &options)
    : model(model), gpu(model.onGpu()), options(options), kvCache(gpu, Place::Device), arena(gpu, Place::Device),
      words(gpu, Place::Sent), transfer(gpu), clock(gpu) {
  for (int64_t i = 0; i < artifact::maxOutputs; ++i)
    outputs.emplace_back(gpu, Place::Fetched);
}

Status VulkanWorkspace::create(const VulkanModel &model, const WorkspaceOptions &options,
                               std::unique_ptr<Workspace> &workspace) {
  std::unique_ptr<VulkanWorkspace> created(new VulkanWorkspace(model, options));
  if (Status status = created->prepare(); status.failed())
    return status;
  workspace = std::move(created);
  return {};
}

// Code reads parts of the KV cache that no step has written: they are zero.
Status VulkanWorkspace::prepare() {
  usedThreads = 1;
  uint64_t bytes = gpuMemoryFor(model.info(), options.slots, {}).kvCache;
  if (Status status = kvCache.reserve(bytes, "the KV cache"); status.failed())
    return status;
  if (bytes > 0)
    if (Status status = transfer.clear(kvCache, "the KV cache was cleared"); status.failed())
      return status;
  for (const LaunchEntry &entry : model.code().entries())
    if (Status status = record(entry); status.failed())
      return status;
  return {};
}

void VulkanWorkspace::addLaunch(Commands &commands, const Recorded &recorded, const Launch &launch,
                                uint64_t &place) const {
  commands.dispatch(model.layout(), model.pipeline(launch.kernel), recorded.arguments.address() + place + 16,
                    recorded.arguments, place, launch.waits != 0);
  place += VulkanModel::launchBytes(model.code().kernels()[launch.kernel]);
}

Status VulkanWorkspace::record(const LaunchEntry &entry) {
  auto recorded = std::make_unique<Recorded>(gpu);
  if (Status status = recorded->arguments.reserve(model.entryBytes(entry), "the arguments of a step"); status.failed())
    return status;
  uint64_t place = 0;
  for (uint32_t first = 0; first < entry.launchCount; first += launchesOfPart) {
    auto part = std::make_unique<Commands>(gpu);
    if (Status status = part->begin(); status.failed())
      return status;
    for (uint32_t i = first; i < std::min(first + launchesOfPart, entry.launchCount); ++i)
      addLaunch(*part, *recorded, model.code().launch(entry.firstLaunch + i), place);
    if (Status status = part->end(); status.failed())
      return status;
    recorded->parts.push_back(std::move(part));
  }
  entries.push_back(std::move(recorded));
  return {};
}

Status VulkanWorkspace::grow(const StepSize &size) {
  const artifact::ModelInfo &facts = model.info();
  const StepSize wanted = maxSize(size, room);
  room = {};  // what cannot grow is given up first
  const uint64_t wordBytes = stepWordBytes(facts, wanted.tokens);
  uint64_t arenaBytes = gpuMemoryFor(facts, options.slots, wanted).temporaries;
  arenaBytes -= arenaBytes == UINT64_MAX ? 0 : wordBytes;
  if (Status status = arena.reserve(arenaBytes, "temporaries (divide the batch into smaller steps)"); status.failed())
    return status;
  if (Status status = words.reserve(wordBytes, "the tokens of a step"); status.failed())
    return status;
  stepWords.reserve(wordBytes / sizeof(int32_t));
  for (int32_t i = 0; i < artifact::maxOutputs; ++i) {
    uint64_t bytes = multiplyAdd(wanted.wanted[i], facts.outputs[i].width * sizeof(float), 0);
    if (Status status = outputs[i].reserve(bytes, "results (ask for fewer rows at a time)"); status.failed())
      return status;
    hostResults[i] = reinterpret_cast<const float *>(outputs[i].mapped());
  }
  room = wanted;
  return {};
}

Status VulkanWorkspace::readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const {
  uint64_t from = static_cast<uint64_t>(slot) * model.info().kvBytesPerSlot + offset;
  return transfer.fetch(kvCache, from, target, bytes, "a slot was saved");
}

Status VulkanWorkspace::writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) {
  uint64_t to = static_cast<uint64_t>(slot) * model.info().kvBytesPerSlot + offset;
  return transfer.send(source, kvCache, to, bytes, "a slot was loaded");
}

WorkspaceMemory VulkanWorkspace::memory() const {
  uint64_t temporaries = arena.size() + words.size();
  for (const std::unique_ptr<Recorded> &entry : entries)
    temporaries += entry->arguments.size();
  uint64_t results = 0;
  for (const GpuMemory &memory : outputs)
    results += memory.size();
  return {kvCache.size(), temporaries, results};
}

// ---- Steps

// The history of beams is the one part of a step that has no bound that is worth reserving.
Status VulkanWorkspace::sendStep(const Step &step) {
  writeStepWords(step, stepWords);
  const uint64_t bytes = stepWords.size() * sizeof(int32_t);
  if (Status status = words.reserve(bytes, "the tokens of a step"); status.failed())
    return status;
  memcpy(words.mapped(), stepWords.data(), bytes);
  return {};
}

StepAddresses VulkanWorkspace::addresses() const {
  // Weights lie in several buffers; see writeArguments.
  StepAddresses addresses = {0, kvCache.address(), arena.address(), words.address(), {}};
  for (int64_t i = 0; i < artifact::maxOutputs; ++i)
    addresses.results[i] = outputs[i].address();
  return addresses;
}

Status VulkanWorkspace::writeArguments(const Step &step) {
  const LaunchEntry &entry = model.code().entries()[step.entry];
  const LaunchValues values = launchValues(step, addresses());
  unsigned char *place = entries[step.entry]->arguments.mapped();
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    const Launch &launch = model.code().launch(entry.firstLaunch + i);
    const LaunchKernel &kernel = model.code().kernels()[launch.kernel];
    const uint64_t workgroups = model.code().gridX(launch, values);
    if (workgroups > gpu.facts().workgroupsInX)
      return Status::failure(TALC_ERROR_MEMORY,
                             "%s: kernel %s: a step of %" PRIu64 " tokens is too large for %s; divide it",
                             model.name().c_str(), kernel.name, values.tokens, gpu.name().c_str());
    const uint32_t grid[3] = {static_cast<uint32_t>(workgroups), kernel.grid.y, 1};
    memcpy(place, grid, sizeof(grid));
    for (uint32_t n = 0; n < kernel.argumentCount; ++n) {
      const bool isWeight = model.code().argument(launch, n).base == static_cast<uint32_t>(LaunchBase::Weights);
      uint64_t value = model.code().value(launch, n, values);
      value = isWeight ? model.weightAt(value) : value;
      memcpy(place + 16 + n * sizeof(value), &value, sizeof(value));
    }
    place += VulkanModel::launchBytes(kernel);
  }
  return {};
}

Status VulkanWorkspace::runParts(const Step &step, const Recorded &recorded) const {
  for (const std::unique_ptr<Commands> &part : recorded.parts) {
    if (step.isAbortable && options.ask && options.ask(options.askUser))
      return Status::failure(TALC_ERROR_ABORTED, "%s: the step was ended by should_abort", model.name().c_str());
    if (Status status = part->run("a step ran"); status.failed())
      return status;
  }
  return {};
}

// Records the same launches between timestamps.
Status VulkanWorkspace::runTimed(const Step &step, const Recorded &recorded) {
  const LaunchEntry &entry = model.code().entries()[step.entry];
  Commands commands(gpu);
  if (Status status = commands.begin(); status.failed())
    return status;
  if (Status status = clock.restart(commands, entry.launchCount); status.failed())
    return status;
  uint64_t place = 0;
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    const Launch &launch = model.code().launch(entry.firstLaunch + i);
    const bool isKernel = launch.mark != UINT32_MAX;
    if (isKernel)
      clock.begin(commands, launch.mark);
    addLaunch(commands, recorded, launch, place);
    if (isKernel)
      clock.end(commands);
  }
  if (Status status = commands.end(); status.failed())
    return status;
  if (Status status = commands.run("a step was timed"); status.failed())
    return status;
  return clock.read(measuredLaunches);
}

Status VulkanWorkspace::run(const Step &step) {
  const Recorded &recorded = *entries[step.entry];
  if (Status status = sendStep(step); status.failed())
    return status;
  if (Status status = writeArguments(step); status.failed())
    return status;
  return measured ? runTimed(step, recorded) : runParts(step, recorded);
}

}  // namespace talc::vulkan
