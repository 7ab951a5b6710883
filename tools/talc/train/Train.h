// SPDX-License-Identifier: Apache-2.0
// talc train: compiles a step of training, trains with texts, and writes a checkpoint.
#pragma once

#include "tools/talc/CompileOptions.h"

#include <string>
#include <vector>

namespace talc::tools {

struct TrainOptions {
  CompileOptions compile;
  std::vector<std::string> data;    // UTF-8 texts
  std::string output;               // a directory
  int64_t sequence = 0;             // tokens of a row; 0: those that the model takes, at most 1024
  int64_t batch = 8;                // rows of an update
  int64_t stepTokens = 2048;        // evaluated at a time
  int64_t steps = 0;                // updates; 0: what `epochs` say
  double epochs = 1;                // how often each row is seen
  double learningRate = 3e-4;       // the highest one
  double warmup = 0.02;             // share of the steps in which the learning rate rises
  double minLearningRate = 0.1;     // share of the highest one that is left at the end
  std::string schedule = "cosine";  // or linear, constant
  std::vector<double> betas = {0.9, 0.999};
  double epsilon = 1e-8, weightDecay = 0.01, clip = 1;
  int64_t seed = 0;       // of the order of rows
  int64_t saveEvery = 0;  // steps; 0: at the end only
  int threads = 0;        // 0: the cores that this process may use
};

// Returns an exit status.
int train(const TrainOptions &options);

}  // namespace talc::tools
