// SPDX-License-Identifier: Apache-2.0
// A handler may only read what is never half changed: an array of pointers.
#include "runtime/program/Signals.h"

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace talc::program {

// The output, logits, and hidden states are all that a run writes.
static std::atomic<const char *> removedFiles[4];

static std::atomic<bool> finishes{false}, interruptSeen{false};
static std::atomic<int> interruptEvent{-1};

static void removeAndEnd(int number) {
  if (number == SIGINT && finishes.exchange(false)) {
    interruptSeen = true;
    uint64_t one = 1;
    (void)!write(interruptEvent, &one, sizeof(one));
    return;
  }
  for (const std::atomic<const char *> &file : removedFiles)
    if (const char *path = file.load())
      unlink(path);
  signal(number, SIG_DFL);
  raise(number);  // takes effect when the handler returns
}

// `ulimit -s` may leave less than generated code and the tokenizer take.
bool prepareStack() {
  constexpr rlim_t wanted = 1 << 20, needed = 128 << 10;
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= wanted)
    return true;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  return setrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= needed;
}

void prepareSignals() {
  signal(SIGXFSZ, SIG_IGN);
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)  // as nohup has it
      continue;
    action = {};
    action.sa_handler = removeAndEnd;
    sigaction(number, &action, nullptr);
  }
}

void finishOnInterrupt() {
  interruptEvent = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  finishes = true;
}

int interruptDescriptor() {
  return interruptEvent;
}

bool interrupted() {
  return interruptSeen;
}

void endByInterrupt() {
  signal(SIGINT, SIG_DFL);
  raise(SIGINT);
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
