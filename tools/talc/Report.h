// SPDX-License-Identifier: Apache-2.0
// Tells the user which stage runs, and in the end how long each took.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace talc::tools {

class Report {
public:
  // Progress appears only where standard error is a terminal.
  Report();
  ~Report();

  // A stage begins, and the one before it has ended; empty: none begins.
  void begin(std::string stage);
  // One line per stage, and the whole.
  void printTimes() const;

private:
  void showProgress(const std::string &text) const;

  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::string stage;
    double seconds;
  };

  bool terminal;
  std::string current;
  Clock::time_point started;
  std::vector<Entry> entries;
};

}  // namespace talc::tools
