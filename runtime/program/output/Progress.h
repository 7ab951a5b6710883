// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a long run in a line on standard error, in place on a terminal, else every ten seconds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc::program {

class Progress {
public:
  // Shows nothing unless it is wanted.
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
  const bool isWanted, isTerminal;
  size_t done = 0;
  double begin = 0, due = 0;
  bool isShown = false;
};

// For talc_open_options: shows the progress of copying weights to the device, if standard error is a terminal.
void showUpload(void *, uint64_t done, uint64_t total);

// Reads a monotonic clock.
double secondsNow();

}  // namespace talc::program
