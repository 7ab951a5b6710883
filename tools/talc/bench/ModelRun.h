// SPDX-License-Identifier: Apache-2.0
// A compiled model in this process, which evaluates steps of any shape on random tokens.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/session/Session.h"
#include "tools/talc/bench/KernelList.h"

#include <memory>
#include <vector>

namespace talc::bench {

// Tokens of the sources that sequences answer to; 0: the model has none.
int64_t sourceTokens(const artifact::ModelInfo &info);
// The longest sequence that is measured.
int64_t maxSequenceTokens(const artifact::ModelInfo &info);

class ModelRun {
public:
  Status open(const std::string &path, bool hugePages = false, const std::string &device = "cpu");
  // Opens the content of such a file, which must outlive the object; weights are not checked.
  Status open(const void *bytes, uint64_t size);
  // Threads and the KV caches of so many sequences; replaces those before. An encoder-decoder gets sources of
  // sourceTokens() tokens.
  Status start(int32_t threads, int64_t sequences);

  // Leaves all sequences with `depth` tokens.
  Status fill(int64_t depth);
  // Evaluates the rows of a step; `step.past` is what fill() and earlier steps made. A step of whole sequences of an
  // encoder-decoder makes them the sources.
  Status evaluate(const StepShape &step);

  const artifact::ModelInfo &info() const { return model.info(); }
  // The device that runs the steps.
  std::string device() const { return model.device().name(); }
  // Threads that steps run on, for a stopwatch; 0: none, on a GPU.
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

// The steps of a prompt of `tokens` behind `depth` others, at most `batch` tokens of all sequences in one.
std::vector<StepShape> promptSteps(int64_t tokens, int64_t depth, int64_t batch, int64_t sequences);
// The steps of `tokens` generated one by one.
std::vector<StepShape> generationSteps(int64_t tokens, int64_t depth, int64_t sequences);

struct App {
  std::string path;
  KernelList list;  // as the compiler counted
  ModelRun run;
};

}  // namespace talc::bench
