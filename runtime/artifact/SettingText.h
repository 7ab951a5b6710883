// SPDX-License-Identifier: Apache-2.0
// Describes the values of a setting in words, for messages and pages.
#pragma once

#include "runtime/artifact/GenerationSettings.h"

#include <cstdio>
#include <string>

namespace talc::artifact {

inline std::string numberText(double value) {
  char text[32];
  snprintf(text, sizeof(text), "%.12g", value);
  return text;
}

// "0 or more", "above 0, at most 1", "1 to 1024"; flags and choices are counted from 0.
inline std::string rangeText(const SettingRange &range) {
  if (range.minimum <= -unbounded)
    return "any finite number";
  const std::string minimum = numberText(range.minimum);
  if (!range.bounded() || range.maximum == INT32_MAX)
    return range.excludesMinimum ? "above " + minimum : minimum + " or more";
  return range.excludesMinimum ? "above " + minimum + ", at most " + numberText(range.maximum)
                               : minimum + " to " + numberText(range.maximum);
}

}  // namespace talc::artifact
