// SPDX-License-Identifier: Apache-2.0
// The interface to what runs steps: the CPU of this machine (device/cpu), or a GPU (device/cuda, device/vulkan).
// Models, sessions and slots know nothing else of a device.
//
//   Device        a part of the machine; there is a table of them (Devices.h)
//     LoadedModel   a model's code and weights on the device: loaded once, never changed, used by any number of
//     sessions
//       Workspace     of a session: the KV cache, temporaries and results; runs steps
//
// Inputs, tokens and spans come from the host with each step, and only the wanted tokens' results go back. A step costs
// one virtual call; nothing is allocated unless the step is larger than all before.
#pragma once

#include "runtime/Status.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Entries.h"
#include "runtime/device/Step.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace talc {

// The index of an entry among those of the loaded code (Entries.h).
using EntryIndex = int32_t;
constexpr EntryIndex noEntry = -1;

struct WantedTokens {
  int64_t count;
  const int32_t *tokens;  // [count], tokens of the step
};

// A step of training has this beside its tokens; in inference all is null.
struct TrainingInputs {
  const int32_t *labels = nullptr;         // [wanted tokens of the first result]; negative: none
  const float *lossScale = nullptr;        // 1 / number of labels, of all steps until the next update
  float *gradients = nullptr;              // to which gradients are added
  const unsigned char *weights = nullptr;  // in place of the stored weights of the model; null: those
};

// A step; read during Workspace::run only.
struct Step {
  EntryIndex entry;
  int64_t tokenCount, spanCount;
  artifact::StepInputs inputs;
  const artifact::StepToken *tokens;  // [tokenCount]
  const artifact::Span *spans;        // [spanCount]
  const int32_t *history;             // slots; see Span::history
  WantedTokens wanted[artifact::maxOutputs];
  bool isAbortable = true;  // whether the caller is asked if the step is to end
  TrainingInputs training = {};
};

// The default limit for the tokens of a step of generation. A part that cannot be divided may be longer.
constexpr int32_t defaultStepTokens = 512;

// The sizes that determine the temporaries and results of a step.
struct StepSize {
  uint64_t tokens = 0;
  uint64_t wanted[artifact::maxOutputs] = {};
};

// Bytes on the device, exact and known before anything is allocated.
struct WorkspaceMemory {
  uint64_t kvCache = 0;  // address space of all slots; committed as tokens come where the device can do that
  uint64_t temporaries = 0, results = 0;
};

// The time of a kernel by the clock of a device, in seconds.
struct LaunchTime {
  int64_t kernel;     // index in the manifest's list of kernels
  double begin, end;  // since the step's first launch
};

class Workspace {
public:
  // A hook for profilers: called on every thread after each kernel with its number, and with one of the events below.
  // Devices with clocks of their own do not call it; they have launchTimes().
  using Mark = void (*)(void *state, int64_t thread, int64_t kernel);
  static constexpr int64_t stepBegins = -1, barrierPassed = -2, stepEnds = -3;

  virtual ~Workspace() = default;

  // Allocates memory for steps of a size. On failure the KV cache is unchanged.
  Status reserve(const StepSize &size) { return fits(size) ? Status() : grow(size); }

  // Evaluates a step, for which memory must have been reserved. The KV cache of its slots changes only at the positions
  // of its tokens. Fails when the caller ends it (ABORTED), or the device fails; then the content of those positions is
  // undefined.
  virtual Status run(const Step &step) = 0;

  // Whether memory for steps of a size was reserved.
  bool fits(const StepSize &size) const {
    return size.tokens <= room.tokens &&
           std::equal(size.wanted, size.wanted + artifact::maxOutputs, room.wanted,
                      [](uint64_t required, uint64_t available) { return required <= available; });
  }

  // The results of the last step on the host: [wanted tokens][width], in the order of its wanted tokens.
  const float *results(int32_t output) const { return hostResults[output]; }

  // Copies a part of a slot's KV cache to the host, and back.
  virtual Status readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const = 0;
  virtual Status writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) = 0;

  // Releases the KV cache of a slot; what is read there later is undefined.
  virtual void discard(int32_t slot) = 0;

  // Calls task(context, i) for every i below `count`, on the threads of the host that steps run on.
  virtual void runTasks(int64_t count, void (*task)(void *context, int64_t index), void *context) {
    for (int64_t i = 0; i < count; ++i)
      task(context, i);
  }

  // Whether a process that was forked since can destroy it; what the device keeps then stays with the parent.
  virtual bool survivesFork() const { return false; }

  virtual WorkspaceMemory memory() const = 0;
  virtual int32_t threads() const = 0;                 // the most threads of the host that steps run on
  int32_t stepThreads() const { return usedThreads; }  // of the last step

  // Calls `mark` after every kernel from now on; nullptr stops.
  virtual void measure(Mark mark, void *state) = 0;
  // The launches of the last measured step, in order.
  const std::vector<LaunchTime> &launchTimes() const { return measuredLaunches; }

protected:
  // Allocates memory for steps that are larger than all before in some respect.
  virtual Status grow(const StepSize &size) = 0;

  StepSize room;
  const float *hostResults[artifact::maxOutputs] = {};
  int32_t usedThreads = 0;
  std::vector<LaunchTime> measuredLaunches;
};

// The options of a session.
struct WorkspaceOptions {
  int32_t slots, threads;           // `threads`: the most threads of the host
  talc_allocator allocator = {};    // for memory on the host; null: the system's
  talc_should_abort ask = nullptr;  // asks whether a running step is to end; null: it is not asked
  void *askUser = nullptr;
};

class LoadedModel {
public:
  virtual ~LoadedModel() = default;

  // The target of the loaded code, such as x86-64-v3.
  virtual const char *target() const = 0;
  // The x86-64 level that the code needs; 0 where code has no levels.
  virtual int32_t codeLevel() const = 0;

  // Returns the index of the entry with this name, or noEntry. Call it once, not for every step.
  EntryIndex findEntry(const char *name) const {
    auto match = std::find(entryNames.begin(), entryNames.end(), name);
    return match == entryNames.end() ? noEntry : static_cast<EntryIndex>(match - entryNames.begin());
  }

  // Describes for people in how many launches a step runs; null: the device does not launch.
  virtual const char *steps() const { return nullptr; }

  // The memory that a session with these slots needs for steps of a size; UINT64_MAX for more than can be counted.
  virtual WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const = 0;

  // The stored weights where steps read them; null: they are not in the memory of the host.
  virtual const unsigned char *hostWeights() const { return nullptr; }

  // Prepares what the device would otherwise put off until a step needs it, so that it cannot fail later.
  virtual Status prepareAll() { return {}; }

  // The model must outlive the workspace.
  virtual Status createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const = 0;

protected:
  std::vector<std::string> entryNames;  // by EntryIndex
};

// A callback for the progress of copying weights to a device. Null: there is none.
struct UploadProgress {
  talc_progress function = nullptr;
  void *user = nullptr;

  void report(uint64_t done, uint64_t total) const {
    if (function)
      function(user, done, total);
  }
};

class Device {
public:
  virtual ~Device() = default;

  // The name for users, such as "cpu" or "cuda:0".
  virtual const char *name() const = 0;

  // Loads the code of an artifact that suits the device (chooseCode), and the weights that it reads. Artifact and
  // device must outlive the model. Fails with CPU or DEVICE when there is no such code.
  virtual Status load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
                      std::unique_ptr<LoadedModel> &model) const = 0;
};

}  // namespace talc
