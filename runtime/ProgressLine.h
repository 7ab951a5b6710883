// SPDX-License-Identifier: Apache-2.0
// CONTRACT of everything that takes more than a second: tells on standard error how far it is, the same everywhere.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <utility>

namespace talc {

// "12 s", "3 min" or "1 h 20 min".
inline std::string durationText(double seconds) {
  auto wholeSeconds = static_cast<long>(seconds + 0.5);
  if (wholeSeconds < 120)
    return std::to_string(wholeSeconds) + " s";
  long minutes = (wholeSeconds + 30) / 60;
  std::string text = minutes >= 60 ? std::to_string(minutes / 60) + " h " : "";
  return text + std::to_string(minutes % 60) + " min";
}

// "41 %, 12 s left", when `done` of `total` took so many seconds.
inline std::string shareText(uint64_t done, uint64_t total, double seconds) {
  double share = static_cast<double>(done) / static_cast<double>(std::max<uint64_t>(total, 1));
  std::string text = std::to_string(static_cast<int>(100 * share)) + " %";
  return done > 0 ? text + ", " + durationText(seconds * (1 - share) / share) + " left" : text;
}

// A line that a terminal shows in one place, and that others get every ten seconds. Nothing is shown of what is done
// within a second.
class ProgressLine {
public:
  // `what` is done; empty: nothing is shown.
  explicit ProgressLine(std::string what) : what(std::move(what)) {}
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine() { finish(); }

  void show(uint64_t done, uint64_t total) {
    double now = seconds();
    if (what.empty() || done >= total || now < due)
      return;
    fprintf(stderr, "%s%s: %s%s", isTerminal ? "\r" : "", what.c_str(), shareText(done, total, now).c_str(),
            isTerminal ? "\033[K" : "\n");
    due = now + (isTerminal ? 0.1 : 10);
    isShown = isTerminal;
  }
  // Removes the line from a terminal.
  void finish() {
    if (isShown)
      fputs("\r\033[K", stderr);
    isShown = false;
  }

private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }

  const std::string what;
  const bool isTerminal = isatty(STDERR_FILENO) == 1;
  const Clock::time_point begin = Clock::now();
  double due = isTerminal ? 1 : 10;  // seconds after the beginning
  bool isShown = false;
};

}  // namespace talc
