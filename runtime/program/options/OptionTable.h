// SPDX-License-Identifier: Apache-2.0
// All options of a compiled model, in the order and with the texts of --help, and how their values are read.
#pragma once

#include "runtime/program/options/Options.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// ---- Values: numbers and lists in the words of a command line

bool parseInteger(std::string_view text, uint64_t lowest, uint64_t highest, uint64_t &value);
// Parses a finite decimal number.
bool parseNumber(const std::string &text, float &value);
// Parses "5,7,9" and appends to `ids`.
bool parseIds(std::string_view text, std::vector<int32_t> &ids);

// Stores the number in `text`, or returns what was expected.
std::string readInteger(const std::string &text, int32_t minValue, int32_t maxValue, std::optional<int32_t> &value);
std::string readInteger(const std::string &text, int32_t minValue, int32_t maxValue, int32_t &value);

// Formats a number without needless digits.
std::string numberText(double value);

}  // namespace talc::program
