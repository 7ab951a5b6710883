// SPDX-License-Identifier: Apache-2.0
// Progress and times of a compilation, on standard error.
#include "tools/talc/Report.h"

#include <cstdio>
#include <sys/resource.h>
#include <sys/stat.h>
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

void Report::showShare(uint64_t done, uint64_t total) {
  if (running && !line)
    line.emplace(stages.back().name + ": " + currentPart);
  if (line)
    line->show(done, total);
}

void Report::endPart() {
  line.reset();
  Clock::time_point now = Clock::now();
  if (running)
    stages.back().parts.push_back({currentPart, std::chrono::duration<double>(now - started).count()});
  started = now;
}

void Report::begin(std::string stage) {
  endPart();
  bool wasRunning = running;
  running = !stage.empty();
  currentPart.clear();
  if (running || wasRunning)
    showProgress(running ? stage + "..." : "");
  if (running)
    stages.push_back({std::move(stage), {}});
}

void Report::beginPart(std::string part) {
  if (!running)
    return;
  endPart();
  showProgress(stages.back().name + ": " + part + "...");
  currentPart = std::move(part);
}

void Report::wrote(const std::string &path) const {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0)
    return;
  constexpr double mebi = 1 << 20;
  fprintf(stderr, "wrote %s (%.1f MiB, %.1f s)\n", path.c_str(), static_cast<double>(file.st_size) / mebi, seconds());
}

double Report::seconds() const {
  return std::chrono::duration<double>(Clock::now() - created).count();
}

double Report::Stage::seconds() const {
  double sum = 0;
  for (const Part &part : parts)
    sum += part.seconds;
  return sum;
}

void Report::printTimes() const {
  double total = 0;
  for (const Stage &stage : stages)
    total += stage.seconds();
  auto print = [total](const char *stage, const char *part, double seconds) {
    fprintf(stderr, "%-20s %-40s %9.4f %6.1f %%\n", stage, part, seconds, total > 0 ? 100 * seconds / total : 0);
  };
  fprintf(stderr, "%-20s %-40s %9s %8s\n", "stage", "pass", "seconds", "share");
  for (const Stage &stage : stages) {
    print(stage.name.c_str(), "", stage.seconds());
    for (const Part &part : stage.parts)
      if (!part.name.empty())
        print("", part.name.c_str(), part.seconds);
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  fprintf(stderr, "%-61s %9.4f, at most %ld MiB of memory\n", "total", total, usage.ru_maxrss / 1024);
}

}  // namespace talc::tools
