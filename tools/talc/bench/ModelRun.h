// SPDX-License-Identifier: Apache-2.0
// A compiled model in this process, which evaluates steps of any shape on random tokens.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/session/Session.h"
#include "tools/talc/bench/KernelList.h"

#include <memory>
#include <vector>

namespace talc::bench {

// The number of source tokens of an encoder-decoder; else 0.
int64_t sourceTokens(const artifact::ModelInfo &info);
// The longest sequence that is measured.
int64_t maxSequenceTokens(const artifact::ModelInfo &info);

class ModelRun {
public:
  Status open(const std::string &path, bool hugePages = false, const std::string &device = "cpu");
  // Opens the content of such a file, which must outlive the object; weights are not checked.
  Status open(const void *bytes, uint64_t size, const std::string &device);
  // Starts a session with these threads and KV caches for so many sequences, in place of an earlier one. An
  // encoder-decoder gets sources of sourceTokens() tokens.
  Status start(int32_t threads, int64_t sequences);

  // Fills all sequences to `depth` tokens.
  Status fill(int64_t depth);
  // Evaluates the tokens of a step; `step.past` must match fill() and earlier steps. An encode step of an
  // encoder-decoder sets the sources.
  Status evaluate(const StepShape &step);

  const artifact::ModelInfo &info() const { return model.info(); }
  // The device that runs the steps.
  std::string device() const { return model.device().name(); }
  // The number of threads that run steps, for a stopwatch; 0 on a GPU.
  int32_t hostThreads() const { return device() == "cpu" ? session->threads() : 0; }
  // The target of the code that runs.
  std::string target() const { return model.loaded().target(); }
  Session &getSession() { return *session; }

private:
  Status open(const OpenOptions &options, const std::string &device);
  Status encode(int64_t rows);
  bool goesBack(int64_t depth);
  int64_t source() const { return sourceTokens(model.info()); }

  Model model;
  std::unique_ptr<Session> session;
  std::vector<int32_t> ids;
  std::vector<talc_sequence> batch;
};

// Returns the steps of a prompt of `tokens` after `depth` others, with at most `batch` tokens of all sequences in a
// step.
std::vector<StepShape> promptSteps(int64_t tokens, int64_t depth, int64_t batch, int64_t sequences);
// Returns the steps of `tokens` that are generated one by one.
std::vector<StepShape> generationSteps(int64_t tokens, int64_t depth, int64_t sequences);

struct App {
  std::string path;
  KernelList list;  // counted by the compiler
  ModelRun run;
};

}  // namespace talc::bench
