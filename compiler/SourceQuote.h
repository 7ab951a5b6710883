// SPDX-License-Identifier: Apache-2.0
// The line of a program that an error speaks of, as users see it below the error.
#pragma once

#include <string>

namespace talc {

struct SourceQuote {
  std::string text;  // "\n  LINE\n  ^"; a long line is cut around the column
  std::string word;  // what stands there, such as %x
};

// Line and column count from 1. Empty if the file has no such place, or cannot be read.
SourceQuote quoteSource(const std::string &path, unsigned line, unsigned column);

}  // namespace talc
