// SPDX-License-Identifier: Apache-2.0
// The data of `talc compile --inspect`: the model, what was compiled, every pass and what it changed. docs/inspect.md
// describes the schema.
#pragma once

#include "tools/talc/inspect/PassRecorder.h"

#include <nlohmann/json.hpp>

namespace talc::tools {

// Facts of the command line and the clock.
struct Compilation {
  std::string model;    // as the user named it
  std::string targets;  // x86-64-v3, ...
  std::string weights;  // --weights
  std::string product;  // --emit
  double seconds = 0;   // the whole compilation
};

nlohmann::ordered_json describeCompilation(const PassRecorder &recorder, const Compilation &compilation);

}  // namespace talc::tools
