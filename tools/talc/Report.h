// SPDX-License-Identifier: Apache-2.0
// Shows which stage runs, and prints the times of all stages and their parts.
#pragma once

#include "runtime/ProgressLine.h"

#include <chrono>
#include <optional>
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
  // A part of the stage begins, and the one before it has ended.
  void beginPart(std::string part);
  // So much of the part is done; shown of what takes more than a second.
  void showShare(uint64_t done, uint64_t total);
  // Prints the name and size of the output and the time since the beginning.
  void wrote(const std::string &path) const;
  // Seconds since the beginning.
  double seconds() const;
  // Prints a line for every stage and part, in the order in which they ran, and the total.
  void printTimes() const;

private:
  void showProgress(const std::string &text) const;
  void endPart();

  using Clock = std::chrono::steady_clock;
  struct Part {
    std::string name;  // empty: what comes before the first part
    double seconds;
  };
  struct Stage {
    std::string name;
    std::vector<Part> parts;
    double seconds() const;
  };

  bool terminal;
  std::optional<ProgressLine> line;  // of the current part
  Clock::time_point created = Clock::now();
  std::string currentPart;
  Clock::time_point started;  // the current part
  std::vector<Stage> stages;
  bool running = false;  // the last of them
};

}  // namespace talc::tools
