// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a long run in a line on standard error, if that is a terminal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc::program {

class Progress {
public:
  // Shows nothing when `wanted` is false or standard error is not a terminal.
  Progress(size_t total, bool isWanted);
  ~Progress() { finish(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  // Counts one more.
  void advance();
  // Removes the line.
  void finish();

private:
  const size_t total;
  const bool shown;
  size_t done = 0;
  double begin = 0, lastShown = 0;
};

// For talc_open_options: shows the progress of copying weights to the device, if standard error is a terminal.
void showUpload(void *, uint64_t done, uint64_t total);

// Reads a monotonic clock.
double secondsNow();

}  // namespace talc::program
