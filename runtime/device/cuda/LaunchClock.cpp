// SPDX-License-Identifier: Apache-2.0
// Events are kept for the next step.
#include "runtime/device/cuda/LaunchClock.h"

namespace talc::cuda {

LaunchClock::~LaunchClock() {
  if (!events.empty())
    (void)gpu.use();
  for (Event event : events)
    (void)gpu.driver.cuEventDestroy_v2(event);
}

Status LaunchClock::begin(int64_t kernel, Stream stream) {
  kernels.push_back(kernel);
  return record(2 * kernels.size() - 2, stream);
}

Status LaunchClock::record(size_t number, Stream stream) {
  while (events.size() <= number) {
    Event event = nullptr;
    if (Status status = gpu.check(gpu.driver.cuEventCreate(&event, 0), "an event was made"); status.failed())
      return status;
    events.push_back(event);
  }
  return gpu.check(gpu.driver.cuEventRecord(events[number], stream), "a launch was timed");
}

Status LaunchClock::read(std::vector<LaunchTime> &times) const {
  times.clear();
  for (size_t i = 0; i < kernels.size(); ++i) {
    float begin = 0, end = 0;  // milliseconds
    Result result = gpu.driver.cuEventElapsedTime(&begin, events[0], events[2 * i]);
    result = result == Success ? gpu.driver.cuEventElapsedTime(&end, events[0], events[2 * i + 1]) : result;
    if (Status status = gpu.check(result, "launches were timed"); status.failed())
      return status;
    times.push_back({kernels[i], 1e-3 * begin, 1e-3 * end});
  }
  return {};
}

}  // namespace talc::cuda
