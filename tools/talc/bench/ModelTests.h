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
  std::vector<KernelWork> works;  // of all steps, at what the machine does at most
  double peakF32Rate = 0;         // of f32 in a second, there
  double stepThreads = 0;         // that steps ran on: a mean
  double maxStepStoredBytes =
      0;  // of the step that reads the most weights and KV caches: what a cache would have to hold

  // What the machine could do before the first repetition and after each: multiply-adds, and reading from the level
  // that holds what a step reads.
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
  // Seconds at such rates, which a repetition met.
  using Least = std::function<double(double operationsPerSecond, double bytesPerSecond)>;
  double share(const Least &least) const;
};

// A test of a run that was started for it.
class ModelTest {
public:
  ModelTest(ModelRun &run, const KernelList &kernels, const TestCase &test, Machine &machine);

  // Evaluates all steps once, and what the machine can do behind them. The first time only warms up.
  Status repeat();
  const TestResult &result() const { return found; }

private:
  ModelRun &run;
  Machine &machine;
  std::vector<StepShape> steps;
  int64_t threads = 0, evaluations = 0;  // sums over all steps ever
  TestResult found;
};

struct TestPlan {
  std::vector<TestCase> tests;       // every number of threads runs them all
  std::vector<std::string> leftOut;  // "tg2000: a sequence holds at most 256 tokens"
};

// Every combination of the lists. Without lists: prompts of 128 and 512 tokens, shortened to what a sequence can hold,
// and 32 generated tokens where the model generates. An encoder takes every prompt in one step, behind nothing else;
// before a decoder the prompts are its sources, and with `kernels` also the beginnings of its texts, since those have
// kernels of their own.
TestPlan planTests(const BenchOptions &options, const artifact::ModelInfo &info);

// The wanted numbers of threads; no more than a session takes, of which standard error is told, and none twice.
std::vector<int32_t> threadCounts(const std::vector<int64_t> &wanted);

}  // namespace talc::bench
