// SPDX-License-Identifier: Apache-2.0
// Measures every kernel of a step and compares it with its own roof. The marks of a session tell how long every thread
// worked on a kernel, and waited for others after it.
#pragma once

#include "runtime/session/Session.h"
#include "tools/talc/bench/MachineProfile.h"
#include "tools/talc/bench/ModelRun.h"
#include "tools/talc/bench/ModelTests.h"

#include <cstdint>
#include <ctime>
#include <vector>

namespace talc::bench {

// The time of all calls of a kernel in one step; seconds are means over the threads.
struct KernelTime {
  double working = 0, waiting = 0;  // waiting at the barriers that follow
  int64_t barriers = 0;             // crossed
  double total() const { return working + waiting; }
};

class KernelTimes {
public:
  KernelTimes(int32_t threads, size_t kernels);

  // Receives the session's marks until detach; this object must not move, and must outlive the measured steps.
  void attach(Session &session);
  void detach(Session &session) { session.measure(nullptr, nullptr); }

  // Returns the times of the step since the last call, by kernel, without the overhead of the marks, which the second
  // function returns. A device with its own clock reports the times of its launches and the gaps between them.
  std::vector<KernelTime> takeStep(const Session &session);
  double takeOverhead();

private:
  std::vector<KernelTime> takeMarks();
  static void mark(void *state, int64_t thread, int64_t kernel);

  // Aligned so that threads do not share cache lines.
  struct alignas(128) Thread {
    int64_t last = 0;     // when the last mark came
    int64_t kernel = -1;  // which kernel ended last
    int64_t marks = 0;
    std::vector<int64_t> working, waiting, barriers;
  };

  clockid_t clock;
  int64_t reading;  // nanoseconds that reading the clock takes
  std::vector<Thread> threads;
};

// An entry of the kernel list in one step.
struct KernelResult {
  const KernelEntry *kernel;
  KernelTime time;     // of all calls; medians over the steps
  StepCosts costs;     // of all calls
  double roofSeconds;  // the minimum time of the costs
  std::string limit;   // the resource that sets the roof: FMA, int8, bf16, L1, L2, L3 or memory
  double share() const { return time.total() > 0 ? roofSeconds / time.total() : 0; }
};

struct PhaseResult {
  std::string name;  // "pp512 @ d128"
  StepShape step;
  double stepSeconds = 0;             // from the call of the runtime to its return; the median
  std::vector<KernelResult> kernels;  // the longest first
  StepCosts costs;
  double kernelSeconds() const;
  double roofSeconds() const;
  double share() const { return stepSeconds > 0 ? roofSeconds() / stepSeconds : 0; }
  std::string label() const;  // "pp512 @ d128, prefill"
  std::string title() const;  // and ": one step of 512 tokens behind 128"
};

// Returns the step of a test whose kernels are measured: the first step of a prompt, or the middle one of generated
// tokens.
StepShape kernelStep(const TestCase &test);

// Returns the costs of the kernels of a step, in the program's order, without times.
PhaseResult countKernels(const KernelList &list, const StepShape &step, const std::string &name);

// Evaluates one step repeatedly.
class KernelSampler {
public:
  // The session of the run must outlive the sampler.
  KernelSampler(ModelRun &run, const KernelList &list, const StepShape &step);

  // Fills the context and evaluates the step once; the first time it only warms up.
  Status sample();
  // The same, but a step of one token follows another one, as in generation; the context is filled again after some
  // steps.
  Status sampleNext();
  // Returns the medians of the samples, and roofs.
  PhaseResult result(const std::string &name, const MachineProfile &machine) const;
  // The samples of the step, and of all calls of an entry of the list.
  const std::vector<double> &stepSeconds() const { return seconds; }
  std::vector<double> kernelSeconds(size_t kernel) const;

private:
  Status sampleStep();

  struct Samples {
    std::vector<double> working, waiting;
    int64_t barriers = 0;
  };

  ModelRun &run;
  const KernelList &list;
  StepShape step;
  KernelTimes times;
  bool warm = false;
  std::vector<Samples> samples;  // of every kernel
  std::vector<double> seconds;   // of the step
};

// Measures the kernels of kernelStep(test).
Status runKernelTest(ModelRun &run, const KernelList &list, const MachineProfile &machine, const TestCase &test,
                     int64_t repetitions, PhaseResult &result);

}  // namespace talc::bench
