// SPDX-License-Identifier: Apache-2.0
// A driver whose GPUs are the emulator. What a program puts into a stream is done when somebody waits for it, as late
// as a GPU may be: who forgets to wait finds old values.
#pragma once

#include "runtime/device/cuda/DriverApi.h"
#include "test/ptx/Launch.h"
#include "test/ptx/driver/Settings.h"

#include <deque>
#include <functional>
#include <set>

namespace talc::cuda {

struct ContextObject {
  int32_t users = 0;
};

struct ModuleObject {
  ptx::Module module;
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};

struct FunctionObject {
  const ptx::Kernel *kernel;
  uint64_t maxDynamicShared;
};

// The commands that a stream recorded.
struct GraphObject {
  std::vector<std::function<Result()>> work;
};

struct GraphExecObject {
  std::vector<std::function<Result()>> work;
};

struct StreamObject {
  std::deque<std::function<Result()>> work;
  std::unique_ptr<GraphObject> recording;  // null: does what comes

  void add(std::function<Result()> next) {
    if (recording)
      recording->work.push_back(std::move(next));
    else
      work.push_back(std::move(next));
  }
};

struct EventObject {
  StreamObject *stream = nullptr;
  bool reached = false;
  double seconds = 0;
};

}  // namespace talc::cuda

namespace talc::ptx {

class Driver {
public:
  static Driver &get();
  ~Driver();

  // Counts a call; anything but Success is what it returns instead of doing anything.
  cuda::Result enter(const char *name);
  // Does the work of a stream, unless it records; the first failure is the GPU's from then on.
  cuda::Result finish(cuda::StreamObject &stream);
  cuda::Result finishAll();
  cuda::Result runKernel(const cuda::FunctionObject &function, const LaunchShape &shape,
                         const std::vector<unsigned char> &parameters);

  const DriverSettings settings;
  Memory memory;
  Counts counts;
  bool initialized = false;
  std::vector<cuda::ContextObject> contexts;  // of every GPU
  cuda::ContextObject *current = nullptr;
  std::set<cuda::ModuleObject *> modules;
  std::set<cuda::StreamObject *> streams;
  std::set<cuda::EventObject *> events;
  std::set<cuda::GraphObject *> graphs;
  std::set<cuda::GraphExecObject *> graphExecs;
  std::set<void *> hostMemory;
  cuda::Result broken = cuda::Success;  // by a kernel: every later call fails so

private:
  Driver();
  std::string leftovers() const;
  void writeCalls() const;

  uint64_t calls = 0;
  std::map<std::string, uint64_t> callsOf;
};

}  // namespace talc::ptx
