// SPDX-License-Identifier: Apache-2.0
// Options that take one of some words, with suggestions for mistyped ones.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace talc::tools {

// Works like CLI::IsMember, and suggests the word that may have been meant.
CLI::Validator isMember(const std::vector<std::string> &words);

// Returns the word of --target for the code of a GPU that --device names, such as cuda:1; empty: it names none.
std::string gpuTarget(const std::string &device);

// Returns names such as "--output", without short names and arguments.
std::vector<std::string> optionNames(const CLI::App &command);

}  // namespace talc::tools
