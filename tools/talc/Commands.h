// SPDX-License-Identifier: Apache-2.0
// The command line of talc: its subcommands, and options that take one of some words.
#pragma once

#include "tools/talc/ExitStatus.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace talc::tools {

// ---- Subcommands: each declares its options and returns an action that does the work

// Declares a subcommand of `app`. The returned function runs it after parsing; it returns an exit status.
using Action = std::function<int()>;
Action addCompile(CLI::App &app, const std::string &programDirectory);
Action addRun(CLI::App &app);
Action addBench(CLI::App &app, const std::string &programDirectory);
Action addPerplexity(CLI::App &app, const std::string &programDirectory);
Action addTune(CLI::App &app, const std::string &programDirectory);
Action addTrain(CLI::App &app, const std::string &programDirectory);
Action addExplain(CLI::App &app);

// ---- Options that take one of some words, with suggestions for mistyped ones

// Works like CLI::IsMember, and suggests the word that may have been meant.
CLI::Validator isMember(const std::vector<std::string> &words);

// Returns the word of --target for the code of a GPU that --device names, such as cuda:1; empty: it names none.
std::string gpuTarget(const std::string &device);

// Returns what is wrong with the --device of a command that measures, or with -t beside it; else nothing.
std::string checkGpuOptions(const CLI::App &command, const std::string &device);

// Returns names such as "--output", without short names and arguments.
std::vector<std::string> optionNames(const CLI::App &command);

}  // namespace talc::tools
