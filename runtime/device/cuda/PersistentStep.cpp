// SPDX-License-Identifier: Apache-2.0
// Fills the table, and launches.
#include "runtime/device/cuda/PersistentStep.h"

#include <cstring>

namespace talc::cuda {

using namespace artifact;

static const LaunchEntry *usableEntry(const CudaModel &model, EntryIndex entry) {
  return model.persistentWorkgroups(entry) > 0 ? &model.code().entries()[entry] : nullptr;
}

uint64_t PersistentStep::bytesFor(const CudaModel &model) {
  uint64_t maxBytes = 0;
  for (size_t i = 0; i < model.code().entries().size(); ++i) {
    const LaunchEntry *entry = usableEntry(model, static_cast<EntryIndex>(i));
    if (!entry)
      continue;
    uint64_t bytes = entry->launchCount * (sizeof(PersistentLaunch) + sizeof(uint32_t)) + sizeof(uint32_t);
    for (uint32_t i = 0; i < entry->launchCount; ++i)
      bytes +=
          model.code().kernels()[model.code().launch(entry->firstLaunch + i).kernel].argumentCount * sizeof(uint64_t);
    maxBytes = std::max(maxBytes, bytes);
  }
  return maxBytes;
}

bool PersistentStep::suits(EntryIndex entry, const LaunchValues &values) {
  const LaunchEntry *table = usableEntry(model, entry);
  if (!hasRoom || !table || values.tokens > table->persistentTokens)
    return false;
  if (isFilled && imageEntry == entry && imageValues == values)
    return true;
  isSent = false;
  imageEntry = entry;
  imageValues = values;
  isFilled = fill(entry, values);
  return isFilled;
}

// Launches with nothing to do are left out, but not their barriers. False: numbers of 32 bits do not suffice.
bool PersistentStep::fillLaunches(const LaunchEntry &entry, const LaunchValues &values) {
  const LaunchCode &code = model.code();
  const LaunchKernel &persistent = code.kernels()[entry.persistentKernel];
  uint64_t maxTasks = 1;
  uint32_t barriers = 0;
  bool waits = false;
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    const Launch &launch = code.launch(entry.firstLaunch + i);
    const LaunchKernel &kernel = code.kernels()[launch.kernel];
    const uint64_t columns = code.gridX(launch, values);
    waits |= launch.waits != 0;
    if (columns == 0)
      continue;
    if (columns > INT32_MAX / kernel.grid.y)
      return false;
    const auto tasks = static_cast<uint32_t>(columns) * kernel.grid.y;
    maxTasks = std::max<uint64_t>(maxTasks, tasks);
    const bool separate = waits && !launches.empty();
    waits = false;
    launches.push_back({launch.kernel, static_cast<uint32_t>(columns), tasks, kernel.threads,
                        teamsFor(kernel, persistent.threads, persistent.dynamicBytes), separate ? ++barriers : 0,
                        arguments.size() * sizeof(uint64_t)});
    for (uint32_t number = 0; number < kernel.argumentCount; ++number)
      arguments.push_back(code.value(launch, number, values));
  }
  workgroups = static_cast<uint32_t>(std::min<uint64_t>(model.persistentWorkgroups(imageEntry), maxTasks));
  return true;
}

bool PersistentStep::fill(EntryIndex entry, const LaunchValues &values) {
  launches.clear();
  arguments.clear();
  if (!fillLaunches(model.code().entries()[entry], values))
    return false;
  const uint64_t launchBytes = launches.size() * sizeof(PersistentLaunch), bytes = arguments.size() * sizeof(uint64_t);
  for (PersistentLaunch &launch : launches)
    launch.arguments += table.address() + launchBytes;
  image.resize(launchBytes + bytes);
  if (!image.empty()) {
    memcpy(image.data(), launches.data(), launchBytes);
    memcpy(image.data() + launchBytes, arguments.data(), bytes);
  }
  return true;
}

Status PersistentStep::start(Stream stream, bool &begun) {
  const Gpu &gpu = model.onGpu();
  begun = true;
  if (launches.empty())
    return {};
  if (!isSent)
    if (Status status = gpu.check(gpu.driver.cuMemcpyHtoDAsync_v2(table.address(), image.data(), image.size(), stream),
                                  "the launches of a step were copied to it");
        status.failed())
      return status;
  isSent = true;
  uint64_t place = table.address(), count = launches.size(), counters = place + image.size();
  if (Status status = gpu.check(gpu.driver.cuMemsetD8Async(counters, 0, (count + 1) * sizeof(uint32_t), stream),
                                "counters were cleared");
      status.failed())
    return status;
  void *parameters[persistentArguments] = {&place, &count, &counters};
  const uint32_t number = model.code().entries()[imageEntry].persistentKernel;
  const LaunchKernel &kernel = model.code().kernels()[number];
  Result result = gpu.driver.cuLaunchCooperativeKernel(model.function(number), workgroups, 1, 1, kernel.threads, 1, 1,
                                                       kernel.dynamicBytes, stream, parameters);
  hasRoom = result != CooperativeLaunchTooLarge && result != NotSupported;
  begun = hasRoom;
  return begun ? gpu.check(result, "a whole step was launched") : Status();
}

}  // namespace talc::cuda
