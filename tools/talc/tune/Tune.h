// SPDX-License-Identifier: Apache-2.0
// The parsed command line of `talc tune`.
#pragma once

#include "tools/talc/CompileOptions.h"

namespace talc::tools {

struct TuneOptions {
  CompileOptions compile;  // of the model; options about outputs are not used
  std::string program;     // named instead of its model (ModelOrigin.h); empty: none
  double budget = 120;     // seconds
  int64_t threads = 1;
  std::string device;  // the GPU that runs the steps, such as cuda or vulkan:1; empty: the CPU
  std::string record;  // empty: the one beside the model
};

// Returns an exit status.
int tune(const TuneOptions &options);

}  // namespace talc::tools
