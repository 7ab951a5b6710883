// SPDX-License-Identifier: Apache-2.0
// The time between two marks belongs to what the later one ends: a kernel, or waiting behind the kernel before.
#include "tools/talc/bench/KernelTimes.h"

#include "tools/talc/bench/Stopwatch.h"

#include <algorithm>
#include <utility>

namespace talc::bench {

// What reading the clock takes, which is part of every interval: the least of some rounds.
static int64_t costOfReading(clockid_t clock, int64_t rounds) {
  constexpr int64_t readings = 20;
  int64_t least = INT64_MAX;
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t start = Stopwatch::now(clock), end = start;
    for (int64_t i = 0; i < readings; ++i)
      end = Stopwatch::now(clock);
    least = std::min(least, (end - start) / readings);
  }
  return least;
}

KernelTimes::KernelTimes(int32_t count, size_t kernels)
    : clock(Stopwatch::clockFor(count)), reading(costOfReading(clock, 50)), threads(count) {
  for (Thread &thread : threads) {
    thread.working.resize(kernels);
    thread.waiting.resize(kernels);
    thread.barriers.resize(kernels);
  }
}

void KernelTimes::attach(Session &session) {
  // What was measured while another thread of the core worked would be more than kernels of nanoseconds take.
  reading = std::min(reading, costOfReading(clock, 5));
  session.measure(mark, this);
}

void KernelTimes::mark(void *state, int64_t number, int64_t kernel) {
  auto *times = static_cast<KernelTimes *>(state);
  Thread &thread = times->threads[number];
  int64_t time = Stopwatch::now(times->clock), passed = std::max<int64_t>(time - thread.last - times->reading, 0);
  ++thread.marks;
  thread.last = time;
  if (kernel >= 0 && kernel < static_cast<int64_t>(thread.working.size())) {
    thread.working[kernel] += passed;
    thread.kernel = kernel;
  } else if (kernel == Workspace::barrierPassed && thread.kernel >= 0) {
    thread.waiting[thread.kernel] += passed;
    ++thread.barriers[thread.kernel];
  } else if (kernel == Workspace::stepBegins) {
    thread.kernel = -1;
  }
}

double KernelTimes::takeOverhead() {
  int64_t marks = 0;
  for (Thread &thread : threads)
    marks = std::max(marks, std::exchange(thread.marks, 0));
  return 1e-9 * static_cast<double>(marks * reading);
}

static std::vector<KernelTime> timesOf(const std::vector<LaunchTime> &launches, size_t kernels) {
  std::vector<KernelTime> result(kernels);
  for (size_t i = 0; i < launches.size(); ++i) {
    const LaunchTime &launch = launches[i];
    if (static_cast<uint64_t>(launch.kernel) >= kernels)
      continue;
    KernelTime &time = result[static_cast<size_t>(launch.kernel)];
    time.working += launch.end - launch.begin;
    time.waiting += i + 1 < launches.size() ? std::max(launches[i + 1].begin - launch.end, 0.0) : 0;
    ++time.barriers;
  }
  return result;
}

std::vector<KernelTime> KernelTimes::takeStep(const Session &session) {
  std::vector<KernelTime> marks = takeMarks();
  return session.launchTimes().empty() ? marks : timesOf(session.launchTimes(), marks.size());
}

std::vector<KernelTime> KernelTimes::takeMarks() {
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
