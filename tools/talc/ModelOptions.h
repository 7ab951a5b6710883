// SPDX-License-Identifier: Apache-2.0
// The options that decide about a model's code, shared by talc compile and talc tune.
#pragma once

#include "tools/talc/CompileOptions.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace talc::targets {
enum class Compute;
}

namespace talc::tools {

void declareModelOptions(CLI::App &command, CompileOptions &options);

// Returns the options of a parsed command line in the form that parseModelOptions takes: --weights=bf16.
std::vector<std::string> givenModelOptions(const CLI::App &command);

// Returns an error, or an empty text.
std::string parseModelOptions(std::vector<std::string> words, CompileOptions &options);

// The values of --compute, and their meanings.
std::vector<std::string> computeChoices();
targets::Compute parseCompute(const std::string &name);

}  // namespace talc::tools
