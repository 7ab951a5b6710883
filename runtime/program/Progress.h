// SPDX-License-Identifier: Apache-2.0
// One line on standard error that tells how far a long run is, when somebody looks at it.
#pragma once

#include <cstddef>
#include <cstdint>

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

// For talc_open_options: how much of the weights is on the device, when standard error is a terminal.
void showUpload(void *, uint64_t done, uint64_t total);

// Of a clock that never goes back.
double secondsNow();

}  // namespace talc::program
