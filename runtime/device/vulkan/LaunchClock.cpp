// SPDX-License-Identifier: Apache-2.0
// A pool of queries, which is kept for the next step. A launch begins when all before it have ended.
#include "runtime/device/vulkan/LaunchClock.h"

namespace talc::vulkan {

LaunchClock::~LaunchClock() {
  if (pool)
    gpu.driver.vkDestroyQueryPool(gpu.device, pool, nullptr);
}

Status LaunchClock::restart(Commands &commands, uint32_t launches) {
  if (gpu.facts().timestampBits == 0)
    return Status::failure(TALC_ERROR_DEVICE, "%s (%s): has no clock for what runs there", gpu.name().c_str(),
                           gpu.facts().description.c_str());
  kernels.clear();
  if (size < 2 * launches) {
    if (pool)
      gpu.driver.vkDestroyQueryPool(gpu.device, pool, nullptr);
    QueryPoolCreateInfo info;
    info.kind = queryTimestamp;
    info.count = size = 2 * launches;
    Result result = gpu.driver.vkCreateQueryPool(gpu.device, &info, nullptr, &pool);
    if (result != Success) {
      pool = size = 0;
      return gpu.check(result, "a clock was made");
    }
  }
  commands.resetQueries(pool, size);
  return {};
}

void LaunchClock::begin(Commands &commands, int64_t kernel) {
  commands.timestamp(pool, static_cast<uint32_t>(2 * kernels.size()));
  kernels.push_back(kernel);
}

Status LaunchClock::read(std::vector<LaunchTime> &times) const {
  std::vector<uint64_t> ticks(2 * kernels.size());
  times.clear();
  if (kernels.empty())
    return {};
  Result result = gpu.driver.vkGetQueryPoolResults(gpu.device, pool, 0, static_cast<uint32_t>(ticks.size()),
                                                   ticks.size() * sizeof(uint64_t), ticks.data(), sizeof(uint64_t),
                                                   result64Bits | resultWaits);
  if (result != Success)
    return gpu.check(result, "launches were timed");
  const uint64_t counted = UINT64_MAX >> (64 - std::min(gpu.facts().timestampBits, 64U));
  auto seconds = [&](size_t i) {
    return static_cast<double>((ticks[i] - ticks[0]) & counted) * gpu.facts().timestampSeconds;
  };
  for (size_t i = 0; i < kernels.size(); ++i)
    times.push_back({kernels[i], seconds(2 * i), seconds(2 * i + 1)});
  return {};
}

}  // namespace talc::vulkan
