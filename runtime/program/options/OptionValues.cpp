// SPDX-License-Identifier: Apache-2.0
// Reads values without guessing: a word is either a number as a whole, or not a number.
#include "runtime/program/options/OptionTable.h"

#include <charconv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace talc::program {

bool parseInteger(std::string_view text, uint64_t lowest, uint64_t highest, uint64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= lowest && value <= highest;
}

bool parseNumber(const std::string &text, float &value) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos)
    return false;  // no spaces, no "inf", no hexadecimal
  char *end = nullptr;
  value = strtof(text.c_str(), &end);
  return *end == 0 && std::isfinite(value);
}

bool parseIds(std::string_view text, std::vector<int32_t> &ids) {
  while (true) {
    size_t comma = text.find(',');
    uint64_t id = 0;
    if (!parseInteger(text.substr(0, comma), 0, INT_MAX, id))
      return false;
    ids.push_back(static_cast<int32_t>(id));
    if (comma == std::string_view::npos)
      return true;
    text.remove_prefix(comma + 1);
  }
}

std::string readInteger(const std::string &text, int32_t minValue, int32_t maxValue, int32_t &value) {
  uint64_t number;
  if (!parseInteger(text, static_cast<uint64_t>(minValue), static_cast<uint64_t>(maxValue), number))
    return "a number from " + std::to_string(minValue) + " to " + std::to_string(maxValue);
  value = static_cast<int32_t>(number);
  return {};
}

std::string readInteger(const std::string &text, int32_t minValue, int32_t maxValue, std::optional<int32_t> &value) {
  int32_t number = 0;
  std::string expected = readInteger(text, minValue, maxValue, number);
  if (expected.empty())
    value = number;
  return expected;
}

std::string numberText(double value) {
  char text[32];
  snprintf(text, sizeof(text), "%g", value);
  return text;
}

}  // namespace talc::program
