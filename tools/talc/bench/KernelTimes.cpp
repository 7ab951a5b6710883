// SPDX-License-Identifier: Apache-2.0
// The time between two marks belongs to what the later one ends: a kernel, or waiting behind the kernel before.
#include "tools/talc/bench/KernelTimes.h"

#include <ctime>

namespace talc::bench {

// A mark costs some 25 ns this way; the CPU time of a thread would take a system call.
static int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
}

KernelTimes::KernelTimes(int32_t count, size_t kernels) : threads(count) {
  for (Thread &thread : threads) {
    thread.working.resize(kernels);
    thread.waiting.resize(kernels);
    thread.barriers.resize(kernels);
  }
}

void KernelTimes::attach(Session &session) {
  session.measure(mark, this);
}

void KernelTimes::mark(void *state, int64_t number, int64_t kernel) {
  Thread &thread = static_cast<KernelTimes *>(state)->threads[number];
  int64_t time = now(), passed = time - thread.last;
  thread.last = time;
  if (kernel >= 0 && kernel < static_cast<int64_t>(thread.working.size())) {
    thread.working[kernel] += passed;
    thread.kernel = kernel;
  } else if (kernel == Session::barrierPassed && thread.kernel >= 0) {
    thread.waiting[thread.kernel] += passed;
    ++thread.barriers[thread.kernel];
  } else if (kernel == Session::stepBegins) {
    thread.kernel = -1;
  }
}

std::vector<KernelTime> KernelTimes::takeStep() {
  std::vector<KernelTime> result(threads.front().working.size());
  auto scale = 1e-9 / static_cast<double>(threads.size());
  for (Thread &thread : threads)
    for (size_t i = 0; i < result.size(); ++i) {
      result[i].working += scale * static_cast<double>(thread.working[i]);
      result[i].waiting += scale * static_cast<double>(thread.waiting[i]);
      result[i].barriers = thread.barriers[i];
      thread.working[i] = thread.waiting[i] = thread.barriers[i] = 0;
    }
  return result;
}

}  // namespace talc::bench
