// SPDX-License-Identifier: Apache-2.0
// On a terminal a bar of 30 characters, ten times a second at most.
#include "runtime/program/output/Progress.h"

#include "runtime/ProgressLine.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <time.h>
#include <unistd.h>

namespace talc::program {

double secondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void showUpload(void *, uint64_t done, uint64_t total) {
  constexpr uint64_t mebibyte = 1 << 20;
  if (isatty(STDERR_FILENO) != 1)
    return;
  if (done < total)
    fprintf(stderr, "\rweights to the GPU: %llu of %llu MiB\033[K", static_cast<unsigned long long>(done / mebibyte),
            static_cast<unsigned long long>(total / mebibyte));
  else
    fputs("\r\033[K", stderr);
}

Progress::Progress(size_t total, bool isWanted)
    : total(std::max<size_t>(total, 1)), isWanted(isWanted), isTerminal(isatty(STDERR_FILENO) == 1),
      begin(secondsNow()), due(begin + (isTerminal ? 0 : 10)) {}

void Progress::advance() {
  ++done;
  double now = secondsNow();
  bool isDue = done < total ? now >= due : isTerminal;
  if (!isWanted || !isDue)
    return;
  due = now + (isTerminal ? 0.1 : 10);
  constexpr size_t width = 30;
  std::string bar(width * done / total, '#');
  bar.resize(width, '.');
  std::string head = isTerminal ? "\r[" + bar + "] " : "", end = isTerminal ? "\033[K" : "\n";
  fprintf(stderr, "%s%zu of %zu, %.1f a second, %s%s", head.c_str(), done, total,
          static_cast<double>(done) / std::max(now - begin, 1e-9), shareText(done, total, now - begin).c_str(),
          end.c_str());
  isShown = isTerminal;
}

void Progress::finish() {
  if (isShown)
    fputs("\r\033[K", stderr);
  isShown = false;
}

}  // namespace talc::program
