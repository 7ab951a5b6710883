// SPDX-License-Identifier: Apache-2.0
// A pool, a buffer of commands and a fence.
#include "runtime/device/vulkan/StepCommands.h"

#include <cstring>

namespace talc::vulkan {

Commands::~Commands() {
  if (fence)
    gpu.driver.vkDestroyFence(gpu.device, fence, nullptr);
  if (pool)
    gpu.driver.vkDestroyCommandPool(gpu.device, pool, nullptr);
}

Status Commands::begin() {
  const Driver &driver = gpu.driver;
  ready = false;
  Result result = Success;
  if (!fence) {
    FenceCreateInfo info;
    result = driver.vkCreateFence(gpu.device, &info, nullptr, &fence);
    fence = result == Success ? fence : 0;
  }
  if (result == Success && !pool) {
    CommandPoolCreateInfo info;
    info.flags = resetCommandBuffers;
    info.family = gpu.facts().queueFamily;
    result = driver.vkCreateCommandPool(gpu.device, &info, nullptr, &pool);
    pool = result == Success ? pool : 0;
  }
  if (result == Success && !commands) {
    CommandBufferAllocateInfo info;
    info.pool = pool;
    info.count = 1;
    result = driver.vkAllocateCommandBuffers(gpu.device, &info, &commands);
    commands = result == Success ? commands : nullptr;
  }
  CommandBufferBeginInfo info;
  if (result == Success)
    result = driver.vkBeginCommandBuffer(commands, &info);
  return gpu.check(result, "commands were begun");
}

// The host reads what was written, and so do commands that run later.
Status Commands::end() {
  barrier(stageHost | stageCompute | stageTransfer,
          accessHostRead | accessShaderRead | accessShaderWrite | accessTransferRead | accessTransferWrite);
  Result result = gpu.driver.vkEndCommandBuffer(commands);
  ready = result == Success;
  return gpu.check(result, "commands were recorded");
}

Status Commands::run(const char *what) const {
  Result result = gpu.driver.vkResetFences(gpu.device, 1, &fence);
  result = result == Success ? gpu.submit(commands, fence) : result;
  if (result != Success)
    return gpu.check(result, what);
  result = gpu.driver.vkWaitForFences(gpu.device, 1, &fence, 1, UINT64_MAX);
  if (result != Success)
    gpu.waitForAll();  // what runs uses memory that is given up next
  return gpu.check(result, what);
}

// Makes writes of the commands before it visible to those after it.
void Commands::barrier(uint32_t targetStages, uint32_t targetAccess) {
  MemoryBarrier memory;
  memory.source = accessShaderWrite | accessTransferWrite;
  memory.target = targetAccess;
  gpu.driver.vkCmdPipelineBarrier(commands, stageCompute | stageTransfer, targetStages, 0, 1, &memory, 0, nullptr, 0,
                                  nullptr);
}

void Commands::copy(const GpuMemory &from, uint64_t source, const GpuMemory &to, uint64_t target, uint64_t size) {
  const BufferCopy region = {source, target, size};
  gpu.driver.vkCmdCopyBuffer(commands, from.buffer(), to.buffer(), 1, &region);
}

void Commands::clear(const GpuMemory &memory) {
  gpu.driver.vkCmdFillBuffer(commands, memory.buffer(), 0, wholeSize, 0);
}

void Commands::dispatch(PipelineLayout layout, Pipeline pipeline, Address arguments, const GpuMemory &grids,
                        uint64_t offset, bool waits) {
  if (waits)
    barrier(stageCompute, accessShaderRead | accessShaderWrite);
  gpu.driver.vkCmdBindPipeline(commands, pipelineBindPointCompute, pipeline);
  gpu.driver.vkCmdPushConstants(commands, layout, shaderStageCompute, 0, sizeof(arguments), &arguments);
  gpu.driver.vkCmdDispatchIndirect(commands, grids.buffer(), offset);
}

void Commands::resetQueries(QueryPool pool, uint32_t count) {
  gpu.driver.vkCmdResetQueryPool(commands, pool, 0, count);
}

void Commands::timestamp(QueryPool pool, uint32_t query) {
  gpu.driver.vkCmdWriteTimestamp(commands, stageEnd, pool, query);
}

Status Transfer::send(const unsigned char *source, const GpuMemory &to, uint64_t target, uint64_t bytes,
                      const char *what) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t count = std::min(part, bytes - done);
    if (Status status = sent.reserve(count, "a copy"); status.failed())
      return status;
    memcpy(sent.mapped(), source + done, count);
    if (Status status = commands.begin(); status.failed())
      return status;
    commands.copy(sent, 0, to, target + done, count);
    if (Status status = commands.end(); status.failed())
      return status;
    if (Status status = commands.run(what); status.failed())
      return status;
    done += count;
  }
  return {};
}

Status Transfer::fetch(const GpuMemory &from, uint64_t source, unsigned char *target, uint64_t bytes,
                       const char *what) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t count = std::min(part, bytes - done);
    if (Status status = fetched.reserve(count, "a copy"); status.failed())
      return status;
    if (Status status = commands.begin(); status.failed())
      return status;
    commands.copy(from, source + done, fetched, 0, count);
    if (Status status = commands.end(); status.failed())
      return status;
    if (Status status = commands.run(what); status.failed())
      return status;
    memcpy(target + done, fetched.mapped(), count);
    done += count;
  }
  return {};
}

Status Transfer::clear(const GpuMemory &memory, const char *what) {
  if (Status status = commands.begin(); status.failed())
    return status;
  commands.clear(memory);
  if (Status status = commands.end(); status.failed())
    return status;
  return commands.run(what);
}

}  // namespace talc::vulkan
