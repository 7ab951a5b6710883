// SPDX-License-Identifier: Apache-2.0
// A handler may look only at what is never half changed: an array of pointers.
#include "runtime/program/Signals.h"

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <unistd.h>

namespace talc::program {

// The output, logits, and hidden states are all that a run writes.
static std::atomic<const char *> removedFiles[4];

static void removeAndEnd(int number) {
  for (const std::atomic<const char *> &file : removedFiles)
    if (const char *path = file.load())
      unlink(path);
  signal(number, SIG_DFL);
  raise(number);  // takes effect when the handler returns
}

void prepareSignals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)  // as nohup has it
      continue;
    action = {};
    action.sa_handler = removeAndEnd;
    sigaction(number, &action, nullptr);
  }
}

void removeOnSignal(const char *path) {
  for (std::atomic<const char *> &file : removedFiles) {
    const char *free = nullptr;
    if (file.compare_exchange_strong(free, path))
      return;
  }
}

void keepOnSignal(const char *path) {
  for (std::atomic<const char *> &file : removedFiles) {
    const char *expected = path;
    file.compare_exchange_strong(expected, nullptr);
  }
}

}  // namespace talc::program
