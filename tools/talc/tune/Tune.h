// SPDX-License-Identifier: Apache-2.0
// The parsed command line of `talc tune`.
#pragma once

#include "tools/talc/CompileOptions.h"

namespace talc::tools {

struct TuneOptions {
  CompileOptions compile;  // of the model; what makes a product is not used
  std::string program;     // that was named instead of its model (Origin.h); empty: none
  double budget = 120;     // seconds
  int64_t threads = 1;
  std::string record;  // empty: the one beside the model
};

// Returns an exit status.
int tune(const TuneOptions &options);

}  // namespace talc::tools
