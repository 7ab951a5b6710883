// SPDX-License-Identifier: Apache-2.0
// Which tests the options ask for, and which of them the model or the machine cannot run.
#pragma once

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/ModelTests.h"

namespace talc::bench {

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
