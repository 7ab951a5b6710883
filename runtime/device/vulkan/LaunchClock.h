// SPDX-License-Identifier: Apache-2.0
// Times of launches by timestamps among their commands.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/vulkan/StepCommands.h"

namespace talc::vulkan {

class LaunchClock {
public:
  explicit LaunchClock(const Gpu &gpu) : gpu(gpu) {}
  ~LaunchClock();
  LaunchClock(const LaunchClock &) = delete;
  LaunchClock &operator=(const LaunchClock &) = delete;

  // The first among the commands. Fails on a GPU without a clock.
  Status restart(Commands &commands, uint32_t launches);
  // In front of a launch of a kernel, and behind it.
  void begin(Commands &commands, int64_t kernel);
  void end(Commands &commands) { commands.timestamp(pool, static_cast<uint32_t>(2 * kernels.size() - 1)); }
  // When the commands have run.
  Status read(std::vector<LaunchTime> &times) const;

private:
  const Gpu &gpu;
  QueryPool pool = 0;
  uint32_t size = 0;             // of the pool: two queries for each launch
  std::vector<int64_t> kernels;  // of the launches
};

}  // namespace talc::vulkan
