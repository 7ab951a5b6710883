// SPDX-License-Identifier: Apache-2.0
// Combines the lists: depths, then sequences, then prompts and generated tokens.
#include "tools/talc/bench/TestPlan.h"

#include "runtime/device/cpu/Cores.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc::bench {

namespace {

class Planner {
public:
  Planner(const BenchOptions &options, const artifact::ModelInfo &info);
  TestPlan plan();

private:
  void addPrompts(int64_t depth, int64_t sequences);
  void addPrompt(int64_t prompt, int64_t depth, int64_t sequences, int64_t batch);
  void add(const TestCase &test);
  bool isKnown(const TestCase &test) const;
  // Empty if nothing speaks against the test.
  std::string obstacle(const TestCase &test) const;

  const BenchOptions &options;
  int64_t room, source;
  bool generates;
  std::vector<int64_t> generated;
  TestPlan result;
};

}  // namespace

Planner::Planner(const BenchOptions &options, const artifact::ModelInfo &info)
    : options(options), room(maxSequenceTokens(info)), source(sourceTokens(info)),
      generates(info.kind != static_cast<uint32_t>(artifact::ModelKind::Encoder)), generated(options.generated) {
  if (generated.empty() && generates)
    generated = {32};
}

std::string Planner::obstacle(const TestCase &test) const {
  if (test.generated > 0 && !generates)
    return "an encoder generates nothing";
  if (test.whole && test.depth > 0)
    return "an encoder takes whole texts, behind nothing else";
  if (test.depth + test.prompt + test.generated > room)
    return fmt::format("a sequence holds at most {} tokens", room);
  return "";
}

bool Planner::isKnown(const TestCase &test) const {
  return std::any_of(result.tests.begin(), result.tests.end(), [&](const TestCase &other) {
    return other.name() == test.name() && other.whole == test.whole && (other.batch == test.batch || test.whole);
  });
}

void Planner::add(const TestCase &test) {
  if (test.tokens() == 0 || isKnown(test))
    return;
  if (std::string reason = obstacle(test); !reason.empty())
    result.leftOut.push_back(test.name() + ": " + reason);
  else
    result.tests.push_back(test);
}

void Planner::addPrompt(int64_t prompt, int64_t depth, int64_t sequences, int64_t batch) {
  bool begins = source > 0 && options.showsKernels();
  if (!begins || depth == 0)
    add({prompt, 0, depth, batch, sequences, 1, /*whole=*/!generates || source > 0, source});
  if (begins)
    add({prompt, 0, depth, batch, sequences, 1, /*whole=*/false, source});
}

void Planner::addPrompts(int64_t depth, int64_t sequences) {
  for (int64_t prompt : options.prompts)
    for (int64_t batch : options.batches)
      addPrompt(prompt, depth, sequences, batch);
  if (options.prompts.empty())
    for (int64_t usual : {128, 512})
      for (int64_t batch : options.batches)
        addPrompt(depth < room ? std::min(usual, room - depth) : usual, depth, sequences, batch);
}

TestPlan Planner::plan() {
  for (int64_t depth : options.depths)
    for (int64_t sequences : options.sequences) {
      addPrompts(depth, sequences);
      for (int64_t tokens : generated)
        add({0, tokens, depth, options.batches.front(), sequences, 1, false, source});
    }
  return std::move(result);
}

TestPlan planTests(const BenchOptions &options, const artifact::ModelInfo &info) {
  return Planner(options, info).plan();
}

std::vector<int32_t> threadCounts(const std::vector<int64_t> &wanted) {
  std::vector<int32_t> counts;
  for (int64_t number : wanted) {
    int32_t count = std::min(static_cast<int32_t>(number), threadLimit());
    if (std::find(counts.begin(), counts.end(), count) == counts.end())
      counts.push_back(count);
    if (count < number)
      fmt::print(stderr, "warning: {} threads: this process may use {}\n", number, count);
  }
  return counts;
}

}  // namespace talc::bench
