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
  if (range.least <= -unbounded)
    return "any finite number";
  const std::string least = numberText(range.least);
  if (!range.bounded() || range.most == INT32_MAX)
    return range.excludesLeast ? "above " + least : least + " or more";
  return range.excludesLeast ? "above " + least + ", at most " + numberText(range.most)
                             : least + " to " + numberText(range.most);
}

}  // namespace talc::artifact
