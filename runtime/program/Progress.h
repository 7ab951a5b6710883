// SPDX-License-Identifier: Apache-2.0
// One line on standard error that tells how far a long run is, when somebody looks at it.
#pragma once

#include <cstddef>

namespace talc::program {

class Progress {
public:
  // Shows nothing when `wanted` is false or standard error is no terminal.
  Progress(size_t total, bool wanted);
  ~Progress() { finish(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  // One more is done.
  void advance();
  // Removes the line.
  void finish();

private:
  const size_t total;
  const bool shown;
  size_t done = 0;
  double begin = 0, lastShown = 0;
};

// Of a clock that never goes back.
double secondsNow();

}  // namespace talc::program
