// SPDX-License-Identifier: Apache-2.0
// The parsed command line of `talc tune`, and the model of a compiled program, which talc tune APP needs: a program has
// code, but not the source of other code.
#pragma once

#include "tools/talc/CompileOptions.h"
#include "tools/talc/bench/KernelList.h"

namespace talc::tools {

struct TuneOptions {
  CompileOptions compile;  // of the model; options about outputs are not used
  std::string program;     // named instead of its model (resolveModelOrigin); empty: none
  double budget = 120;     // seconds
  int64_t threads = 1;
  std::string device;  // the GPU that runs the steps, such as cuda or vulkan:1; empty: the CPU
  std::string record;  // empty: the one beside the model
};

// Returns an exit status.
int tune(const TuneOptions &options);

// Reads the model and options of a program from its manifest. Returns an error for `command`, or an empty text.
std::string readModelOrigin(const std::string &command, const std::string &program, CompileOptions &model);

// If `options.compile.model` is a compiled program, replaces it by its model, with the options and the target that this
// machine runs. Returns an error, or an empty text.
std::string resolveModelOrigin(TuneOptions &options);

// Whether the kernels of a program differ from the list, because the model or the compiler has changed.
bool kernelsDiffer(const std::string &program, const bench::KernelList &now);

}  // namespace talc::tools
