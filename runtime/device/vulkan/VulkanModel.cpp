// SPDX-License-Identifier: Apache-2.0
// Drivers compile the kernels when a model is opened.
#include "runtime/device/vulkan/VulkanModel.h"

#include "runtime/device/gpu/StepMemory.h"
#include "runtime/device/vulkan/StepCommands.h"
#include "runtime/device/vulkan/VulkanWorkspace.h"

#include <algorithm>
#include <cstring>

namespace talc::vulkan {

using artifact::LaunchKernel;

VulkanModel::VulkanModel(std::shared_ptr<const Gpu> onto, const std::string &file, const artifact::ModelInfo &facts,
                         const char *target)
    : GpuModel(std::move(onto), file, facts, target) {}

VulkanModel::~VulkanModel() {
  for (Pipeline pipeline : pipelines)
    gpu->driver.vkDestroyPipeline(gpu->device, pipeline, nullptr);
  if (pipelineLayout)
    gpu->driver.vkDestroyPipelineLayout(gpu->device, pipelineLayout, nullptr);
}

Status VulkanModel::loadCode(const unsigned char *bytes, uint64_t size) {
  if (Status status = readLaunches(bytes, size); status.failed())
    return status;
  describeSteps();
  if (Status status = makeLayout(); status.failed())
    return status;
  return makePipelines();
}

// The one push constant is the address of the arguments.
Status VulkanModel::makeLayout() {
  const PushConstantRange range = {shaderStageCompute, 0, sizeof(Address)};
  PipelineLayoutCreateInfo info;
  info.rangeCount = 1;
  info.ranges = &range;
  Result result = gpu->driver.vkCreatePipelineLayout(gpu->device, &info, nullptr, &pipelineLayout);
  pipelineLayout = result == Success ? pipelineLayout : 0;
  return gpu->check(result, "a layout of pipelines was made");
}

// A module of the launch table has a SPIR-V module for each of its kernels, in order, each behind its number of words.
Status VulkanModel::makePipelines() {
  std::vector<size_t> offsets(launches.modules().size());
  for (const LaunchKernel &kernel : launches.kernels()) {
    const std::string &module = launches.modules()[kernel.module];
    size_t &at = offsets[kernel.module];
    uint32_t count = 0;
    if (module.size() - at < sizeof(count))
      return damaged("lacks modules of kernels");
    memcpy(&count, module.data() + at, sizeof(count));
    at += sizeof(count);
    if (count == 0 || count > (module.size() - at) / sizeof(uint32_t))
      return damaged("has a module of a kernel that ends too early");
    std::vector<uint32_t> words(count);
    memcpy(words.data(), module.data() + at, count * sizeof(uint32_t));
    at += count * sizeof(uint32_t);
    if (Status status = checkLimits(kernel); status.failed())
      return status;
    if (Status status = makePipeline(kernel, words); status.failed())
      return status;
  }
  return {};
}

Status VulkanModel::checkLimits(const LaunchKernel &kernel) const {
  const GpuProperties &limits = gpu->facts();
  auto exceeds = [&](const char *what, uint32_t demand, uint32_t limit) {
    return Status::failure(TALC_ERROR_DEVICE, "%s: kernel %s needs %u %s, but %s (%s) has %u", file.c_str(),
                           kernel.name, demand, what, gpu->name().c_str(), limits.description.c_str(), limit);
  };
  if (kernel.sharedBytes > limits.sharedPerWorkgroup)
    return exceeds("bytes of shared memory for a workgroup", kernel.sharedBytes, limits.sharedPerWorkgroup);
  if (kernel.threads > limits.threadsPerWorkgroup)
    return exceeds("threads for a workgroup", kernel.threads, limits.threadsPerWorkgroup);
  if (kernel.grid.y > limits.workgroupsInY)
    return exceeds("workgroups in y", kernel.grid.y, limits.workgroupsInY);
  return {};
}

Status VulkanModel::makePipeline(const LaunchKernel &kernel, const std::vector<uint32_t> &words) {
  const Driver &driver = gpu->driver;
  ShaderModuleCreateInfo module;
  module.size = words.size() * sizeof(uint32_t);
  module.words = words.data();
  ComputePipelineCreateInfo info;
  info.layout = pipelineLayout;
  info.stage.name = kernel.name;
  Pipeline pipeline = 0;
  Result result = driver.vkCreateShaderModule(gpu->device, &module, nullptr, &info.stage.module);
  if (result == Success) {
    result = driver.vkCreateComputePipelines(gpu->device, 0, 1, &info, nullptr, &pipeline);
    driver.vkDestroyShaderModule(gpu->device, info.stage.module, nullptr);
  }
  if (result == Success) {
    pipelines.push_back(pipeline);
    return {};
  }
  return gpu->check(result, (std::string("kernel ") + kernel.name + " was compiled").c_str());
}

// Returns the offsets at which parts begin: as few as the largest buffer of the GPU allows, none within a weight.
std::vector<uint64_t> VulkanModel::divideWeights() const {
  std::vector<uint64_t> offsets = launches.weightOffsets(), begins = {0};
  offsets.push_back(facts.weightBytes);
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    if (offsets[i] > begins.back() && offsets[i + 1] - begins.back() > gpu->facts().largestBuffer)
      begins.push_back(offsets[i]);
  return begins;
}

Status VulkanModel::loadWeights(const ModelWeights &weights, const UploadProgress &progress) {
  constexpr uint64_t maxCopy = 64 << 20;  // of a copy
  const uint64_t total = facts.weightBytes;
  const std::vector<uint64_t> begins = divideWeights();
  Transfer transfer(*gpu);
  for (size_t i = 0; i < begins.size(); ++i) {
    const uint64_t end = i + 1 < begins.size() ? begins[i + 1] : total;
    auto part = std::make_unique<Part>(*gpu, begins[i]);
    if (Status status = part->memory.reserve(end - part->begin, "the weights"); status.failed())
      return status;
    for (uint64_t done = part->begin; done < end;) {
      const ModelWeights::Run run = weights.read(done, std::min(maxCopy, end - done));
      if (Status status =
              transfer.send(run.bytes, part->memory, done - part->begin, run.count, "weights were copied to it");
          status.failed())
        return status;
      done += run.count;
      progress.report(done, total);
    }
    stored.push_back(std::move(part));
  }
  return {};
}

Address VulkanModel::weightAt(uint64_t offset) const {
  size_t i = stored.size();
  while (i-- > 1 && stored[i]->begin > offset) {
  }
  return stored[i]->memory.address() + (offset - stored[i]->begin);
}

uint64_t VulkanModel::launchBytes(const LaunchKernel &kernel) {
  return 16 + (uint64_t(kernel.argumentCount) + 1) / 2 * 16;
}

uint64_t VulkanModel::entryBytes(const artifact::LaunchEntry &entry) const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < entry.launchCount; ++i)
    bytes += launchBytes(launches.kernels()[launches.launch(entry.firstLaunch + i).kernel]);
  return bytes;
}

WorkspaceMemory VulkanModel::memoryFor(int32_t slots, int32_t, const StepSize &size) const {
  WorkspaceMemory memory = gpuMemoryFor(facts, slots, size);
  for (const artifact::LaunchEntry &entry : launches.entries())
    memory.temporaries = multiplyAdd(entryBytes(entry), 1, memory.temporaries);
  return memory;
}

Status VulkanModel::createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const {
  return VulkanWorkspace::create(*this, options, workspace);
}

}  // namespace talc::vulkan
