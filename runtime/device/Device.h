// SPDX-License-Identifier: Apache-2.0
// What runs steps: the processors of this machine (device/cpu), or a GPU (device/cuda). All that models,
// sessions and slots know of a device stands here.
//
//   Device        a part of the machine; there is a table of them (Devices.h)
//     LoadedModel   a model's code and weights on the device: loaded once, never changed, used by any number of
//     sessions
//       Workspace     of a session: states of sequences, temporaries and results; runs steps
//
// Token ids, rows and spans come from the host with each step, and only the wanted rows of results go back. A step
// costs one virtual call; nothing is allocated unless it is larger than all before.
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

// The number of an entry among those of the loaded code (Entries.h).
using EntryIndex = int32_t;
constexpr EntryIndex noEntry = -1;

struct WantedTokens {
  int64_t count;
  const int32_t *tokens;  // [count], tokens of the step
};

// Read during Workspace::run only.
struct Step {
  EntryIndex entry;
  int64_t tokenCount, spanCount;
  artifact::StepInputs inputs;
  const artifact::StepToken *tokens;  // [tokenCount]
  const artifact::Span *spans;        // [spanCount]
  const int32_t *history;             // slots; see Span::history
  WantedTokens wanted[artifact::maxOutputs];
};

// A step of generation has no more tokens, unless its caller says so; what cannot be divided may be longer.
constexpr int32_t defaultStepTokens = 512;

// What decides the temporaries and results of a step.
struct StepSize {
  uint64_t tokens = 0;
  uint64_t wanted[artifact::maxOutputs] = {};
};

// Bytes on the device, exact and known before anything is reserved.
struct WorkspaceMemory {
  uint64_t kvCache = 0;  // address space of all slots; taken as tokens come where the device can do that
  uint64_t temporaries = 0, results = 0;
};

// What a kernel took by the clock of a device, in seconds.
struct LaunchTime {
  int64_t kernel;     // its number
  double begin, end;  // since the step's first launch
};

class Workspace {
public:
  // For tools: called on every thread with a kernel's number after each kernel, and with one of these. Devices with
  // clocks of their own call nothing, and have launchTimes() instead.
  using Mark = void (*)(void *state, int64_t thread, int64_t kernel);
  static constexpr int64_t stepBegins = -1, barrierPassed = -2, stepEnds = -3;

  virtual ~Workspace() = default;

  // Makes room for steps of a size. On failure states are as they were.
  Status reserve(const StepSize &size) { return fits(size) ? Status() : grow(size); }

  // Evaluates a step, for which there must be room. The states of its slots change at the places of its tokens alone.
  // Fails when it is asked to end (ABORTED), or the device fails; then what is there is undefined.
  virtual Status run(const Step &step) = 0;

  // On the host: [rows][width] of the step that ran last, in the order of its wanted rows.
  const float *results(int32_t output) const { return hostResults[output]; }

  // Copies a part of the states of a slot to the host, and back.
  virtual Status readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const = 0;
  virtual Status writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) = 0;

  // Nobody needs the states of a slot any more; what is read there later is undefined.
  virtual void discard(int32_t slot) = 0;

  virtual WorkspaceMemory memory() const = 0;
  virtual int32_t threads() const = 0;                 // of the host that steps run on at most
  int32_t stepThreads() const { return usedThreads; }  // that the last one ran on

  // From now on marks are made; null: no more.
  virtual void measure(Mark mark, void *state) = 0;
  // Of the last step that was measured, in the order of its launches.
  const std::vector<LaunchTime> &launchTimes() const { return measuredLaunches; }

protected:
  // Makes room for steps that need more than all before in one respect or another.
  virtual Status grow(const StepSize &size) = 0;

  StepSize room;
  const float *hostResults[artifact::maxOutputs] = {};
  int32_t usedThreads = 0;
  std::vector<LaunchTime> measuredLaunches;

private:
  bool fits(const StepSize &size) const {
    return size.tokens <= room.tokens && std::equal(size.wanted, size.wanted + artifact::maxOutputs, room.wanted,
                                                    [](uint64_t needed, uint64_t there) { return needed <= there; });
  }
};

// What a session asks for.
struct WorkspaceOptions {
  int32_t slots, threads;           // at most so many threads of the host
  talc_allocator allocator = {};    // of memory on the host; null: the system's
  talc_should_abort ask = nullptr;  // whether a step that runs is to end; null: nobody
  void *askUser = nullptr;
};

class LoadedModel {
public:
  virtual ~LoadedModel() = default;

  // What the code that was taken was made for, such as x86-64-v3.
  virtual const char *target() const = 0;
  // The x86-64 level that it needs; 0 where code has no levels.
  virtual int32_t codeLevel() const = 0;

  // The entry with this name; noEntry: the code has none. To be asked once, not for every step.
  EntryIndex findEntry(const char *name) const {
    auto match = std::find(entryNames.begin(), entryNames.end(), name);
    return match == entryNames.end() ? noEntry : static_cast<EntryIndex>(match - entryNames.begin());
  }

  // For people: in how many launches the device runs a step; null: it does not launch.
  virtual const char *steps() const { return nullptr; }

  // What a session of so many slots needs for steps of a size; UINT64_MAX for more than can be counted.
  virtual WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const = 0;

  // Where a device puts off what only some steps need: does it now, so that it cannot fail later.
  virtual Status prepareAll() { return {}; }

  // This object must outlive what is created.
  virtual Status createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const = 0;

protected:
  std::vector<std::string> entryNames;  // by EntryIndex
};

// Who wants to know how far weights have been copied to a device. Null: nobody.
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

  // As users call it, such as "cpu" or "cuda:0".
  virtual const char *name() const = 0;

  // Takes the code that suits the device from an artifact (chooseCode), and brings the weights that it reads. Artifact
  // and device must outlive what is loaded. Fails with CPU or DEVICE when it has no such code.
  virtual Status load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
                      std::unique_ptr<LoadedModel> &model) const = 0;
};

}  // namespace talc
