// SPDX-License-Identifier: Apache-2.0
// Whole-model tests in the manner of llama-bench: pp (a prompt) and tg (generated tokens), at a depth. The options say
// which tests to run; tests that the model or the machine cannot run are left out.
#pragma once

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/MachineProfile.h"
#include "tools/talc/bench/ModelRun.h"

#include <functional>

namespace talc::bench {

struct TestCase {
  int64_t prompt = 0, generated = 0, depth = 0, batch = 0, sequences = 1;
  int32_t threads = 1;
  bool isEncode = false;  // the prompt is for an encoder
  int64_t source = 0;     // tokens of the sources that the sequences answer to

  std::string name() const;  // "pp512 @ d128"
  int64_t tokens() const { return (prompt + generated) * sequences; }
  std::vector<StepShape> steps() const;
};

struct TestResult {
  TestCase test;
  std::string time;  // when it ran, ISO 8601
  std::vector<double> nanoseconds;
  StepCosts costs;                // of all steps
  std::vector<KernelWork> works;  // of all steps, at the peaks of the machine
  double peakF32Rate = 0;         // operations per second
  double stepThreads = 0;         // mean number of threads of a step
  double maxStepStoredBytes = 0;  // of the step that reads most; a cache would have to hold it

  // The current peaks of the machine before the first repetition and after each: multiply-adds, and reading from the
  // level that holds the data of a step.
  std::vector<double> peakOperations, peakBytes;

  double averageSeconds() const;
  double operationsPerSecond() const { return costs.operations / averageSeconds(); }
  double storedBytesPerSecond() const { return costs.storedBytes / averageSeconds(); }
  // Medians over repetitions, each compared with the mean of the peaks before and after it. Integers are multiplied
  // faster than f32, and count accordingly less.
  double peakShare() const;
  double readShare() const;
  // The share of the minimum time of all kernels, one after the other.
  double roofShare() const;
  std::vector<double> tokensPerSecond() const;

private:
  // The minimum seconds at the rates of a repetition.
  using Least = std::function<double(double operationsPerSecond, double bytesPerSecond)>;
  double share(const Least &least) const;
};

// A test of a run, which was started for it.
class ModelTest {
public:
  ModelTest(ModelRun &run, const KernelList &kernels, const TestCase &test, Machine &machine);

  // Evaluates all steps once, then measures the current peaks of the machine. The first call only warms up.
  Status repeat();
  const TestResult &result() const { return testResult; }

private:
  ModelRun &run;
  Machine &machine;
  std::vector<StepShape> steps;
  int64_t threads = 0, evaluations = 0;  // sums over all steps
  TestResult testResult;
};

struct TestPlan {
  std::vector<TestCase> tests;       // every number of threads runs them all
  std::vector<std::string> leftOut;  // "tg2000: a sequence holds at most 256 tokens"
};

// Plans every combination of the lists. The defaults are prompts of 128 and 512 tokens, shortened to the length of a
// sequence, and 32 generated tokens if the model generates. An encoder takes every prompt in one step at depth 0. The
// prompts of an encoder-decoder are its sources, and with `kernels` also the beginnings of its texts, which have
// kernels of their own.
TestPlan planTests(const BenchOptions &options, const artifact::ModelInfo &info);

// Returns the requested numbers of threads, each once and at most the limit of a session, with a warning if reduced.
std::vector<int32_t> threadCounts(const std::vector<int64_t> &requested);

}  // namespace talc::bench
