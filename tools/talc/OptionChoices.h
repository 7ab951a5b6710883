// SPDX-License-Identifier: Apache-2.0
// Options that take one of some words, and what somebody may have meant who mistyped one.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace talc::tools {

// As CLI::IsMember, and names what may have been meant.
CLI::Validator oneOf(const std::vector<std::string> &words);

// "--output", without short names and arguments.
std::vector<std::string> optionNames(const CLI::App &command);

}  // namespace talc::tools
