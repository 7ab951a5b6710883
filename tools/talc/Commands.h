// SPDX-License-Identifier: Apache-2.0
// The subcommands of talc: each declares its options and returns an action that does the work.
#pragma once

#include "tools/talc/ExitStatus.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace talc::tools {

// Declares a subcommand of `app`. The returned function runs it after parsing; it returns an exit status.
using Action = std::function<int()>;
Action addCompile(CLI::App &app, const std::string &programDirectory);
Action addRun(CLI::App &app);
Action addBench(CLI::App &app, const std::string &programDirectory);
Action addPerplexity(CLI::App &app, const std::string &programDirectory);
Action addTune(CLI::App &app, const std::string &programDirectory);
Action addExplain(CLI::App &app);

}  // namespace talc::tools
