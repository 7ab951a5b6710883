// SPDX-License-Identifier: Apache-2.0
// Failures on demand, streams, launches, and what is said at the end.
#include "test/ptx/driver/Driver.h"

#include "test/ptx/Fault.h"

#include <cstdio>
#include <fstream>

namespace talc::ptx {

using cuda::Result;

Driver &Driver::get() {
  static Driver driver;
  return driver;
}

Driver::Driver() : settings(readSettings()), memory(settings.memory), contexts(settings.devices) {}

Driver::~Driver() {
  if (!settings.countsFile.empty())
    std::ofstream(settings.countsFile) << countsTable(counts);
  if (!settings.callsFile.empty())
    writeCalls();
}

void Driver::writeCalls() const {
  std::ofstream file(settings.callsFile);
  file << calls << " calls" << leftovers() << "\n";
  for (const auto &[name, count] : callsOf)
    file << name << " " << count << "\n";
}

std::string Driver::leftovers() const {
  std::string text;
  int32_t users = 0;
  for (const cuda::ContextObject &context : contexts)
    users += context.users;
  const std::pair<const char *, size_t> kinds[] = {{"contexts", static_cast<size_t>(users)},
                                                   {"allocations", memory.count()},
                                                   {"modules", modules.size()},
                                                   {"streams", streams.size()},
                                                   {"events", events.size()},
                                                   {"graphs", graphs.size() + graphExecs.size()},
                                                   {"host allocations", hostMemory.size()}};
  for (const auto &[name, count] : kinds)
    if (count > 0)
      text += ", " + std::to_string(count) + " " + name + " left";
  return text;
}

Result Driver::enter(const char *name) {
  ++calls;
  uint64_t ofThis = ++callsOf[name];
  if (settings.losesAt && calls >= settings.losesAt)
    return cuda::LaunchFailed;
  bool any = settings.failingCall == "*";
  if (settings.failingAt && (any || settings.failingCall == name) && (any ? calls : ofThis) == settings.failingAt)
    return static_cast<Result>(settings.failsWith);
  return broken;
}

Result Driver::finish(cuda::StreamObject &stream) {
  if (stream.recording)
    return cuda::StreamCaptureUnsupported;
  while (!stream.work.empty() && broken == cuda::Success) {
    broken = stream.work.front()();
    stream.work.pop_front();
  }
  stream.work.clear();
  return broken;
}

Result Driver::finishAll() {
  for (cuda::StreamObject *stream : streams)
    finish(*stream);
  return broken;
}

Result Driver::runKernel(const cuda::FunctionObject &function, const LaunchShape &shape,
                         const std::vector<unsigned char> &parameters) try {
  LaunchSettings launchSettings;
  launchSettings.backwards = settings.backwards;
  KernelCounts *kernelCounts = settings.countsFile.empty() ? nullptr : &counts[function.kernel->name];
  Launch(*function.kernel, shape, parameters.data(), memory, kernelCounts).run(launchSettings);
  return cuda::Success;
} catch (const Fault &fault) {
  fprintf(stderr, "ptx: %s\n", fault.what());
  return cuda::IllegalAddress;
}

}  // namespace talc::ptx
