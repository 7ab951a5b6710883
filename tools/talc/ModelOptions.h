// SPDX-License-Identifier: Apache-2.0
// The options that say what a model's code is made of, which talc compile and talc tune have in common.
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

// Those that a parsed command line has, in words that parseModelOptions takes: --weights=bf16.
std::vector<std::string> givenModelOptions(const CLI::App &command);

// Returns what is wrong with them, or nothing.
std::string parseModelOptions(std::vector<std::string> words, CompileOptions &options);

// The words of --compute, and what they say.
std::vector<std::string> computeChoices();
targets::Compute parseCompute(const std::string &name);

}  // namespace talc::tools
