// SPDX-License-Identifier: Apache-2.0
// A bar of 30 characters, ten times a second at most.
#include "runtime/program/output/Progress.h"

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
    : total(std::max<size_t>(total, 1)), shown(isWanted && isatty(STDERR_FILENO) == 1), begin(secondsNow()) {}

void Progress::advance() {
  ++done;
  double now = secondsNow();
  if (!shown || (now - lastShown < 0.1 && done < total))
    return;
  lastShown = now;
  constexpr size_t width = 30;
  std::string bar(width * done / total, '#');
  bar.resize(width, '.');
  fprintf(stderr, "\r[%s] %zu of %zu, %.1f a second\033[K", bar.c_str(), done, total,
          static_cast<double>(done) / std::max(now - begin, 1e-9));
}

void Progress::finish() {
  if (shown && lastShown > 0)
    fputs("\r\033[K", stderr);
  lastShown = 0;
}

}  // namespace talc::program
