// SPDX-License-Identifier: Apache-2.0
// Reads numbers and lists from the words of a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc::program {

bool parseInteger(std::string_view text, uint64_t lowest, uint64_t highest, uint64_t &value);
// A finite decimal number.
bool parseNumber(const std::string &text, float &value);
// Parses "5,7,9" and appends to `ids`.
bool parseIds(std::string_view text, std::vector<int32_t> &ids);

// Stores the number in `text`, or returns what was expected.
std::string readInteger(const std::string &text, int32_t minValue, int32_t maxValue, std::optional<int32_t> &value);
std::string readInteger(const std::string &text, int32_t minValue, int32_t maxValue, int32_t &value);

// Formats a number without needless digits.
std::string numberText(double value);

}  // namespace talc::program
