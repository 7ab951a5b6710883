// SPDX-License-Identifier: Apache-2.0
// Progress and times of a compilation, on standard error.
#include "tools/talc/Report.h"

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace talc::tools {

Report::Report() : terminal(isatty(STDERR_FILENO)) {}

Report::~Report() {
  begin("");
}

void Report::showProgress(const std::string &text) const {
  if (terminal)
    fprintf(stderr, "\r\033[K%s", text.c_str());
}

void Report::begin(std::string stage) {
  Clock::time_point now = Clock::now();
  if (!current.empty())
    entries.push_back({current, std::chrono::duration<double>(now - started).count()});
  if (!current.empty() || !stage.empty())
    showProgress(stage.empty() ? "" : stage + "...");
  current = std::move(stage);
  started = now;
}

void Report::printTimes() const {
  double total = 0;
  for (const Entry &entry : entries) {
    fprintf(stderr, "%-10s %8.3f s\n", entry.stage.c_str(), entry.seconds);
    total += entry.seconds;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  fprintf(stderr, "%-10s %8.3f s, at most %ld MiB of memory\n", "total", total, usage.ru_maxrss / 1024);
}

}  // namespace talc::tools
