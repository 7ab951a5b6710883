// SPDX-License-Identifier: Apache-2.0
// Times of launches by events on their stream.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Gpu.h"

namespace talc::cuda {

class LaunchClock {
public:
  explicit LaunchClock(const Gpu &gpu) : gpu(gpu) {}
  ~LaunchClock();
  LaunchClock(const LaunchClock &) = delete;
  LaunchClock &operator=(const LaunchClock &) = delete;

  // Forgets the launches of earlier steps.
  void restart() { kernels.clear(); }
  // In front of a launch of a kernel, and behind it.
  Status begin(int64_t kernel, Stream stream);
  Status end(Stream stream) { return record(2 * kernels.size() - 1, stream); }
  // When the stream has come to its end.
  Status read(std::vector<LaunchTime> &times) const;

private:
  Status record(size_t number, Stream stream);

  const Gpu &gpu;
  std::vector<Event> events;     // two for each launch
  std::vector<int64_t> kernels;  // of the launches
};

}  // namespace talc::cuda
