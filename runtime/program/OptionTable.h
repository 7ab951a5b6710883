// SPDX-License-Identifier: Apache-2.0
// All options of a compiled model, in the order and with the texts of --help.
#pragma once

#include "runtime/program/Options.h"

#include <functional>

namespace talc::program {

struct Option {
  std::vector<std::string> names;  // the first one is said in messages
  const char *value;               // placeholder in help; null: a flag
  const char *help;                // lines; null: not listed
  // Reads the value; returns what was expected, or nothing.
  std::function<std::string(const std::string &value)> read;
  unsigned kinds = forDecoders | forEncoders | forTranslators;
};

struct OptionSection {
  std::string title;
  std::vector<Option> options;
  std::string end;  // lines behind the options
};

// The options, which write to `target`.
std::vector<OptionSection> listOptions(Options &target);

}  // namespace talc::program
