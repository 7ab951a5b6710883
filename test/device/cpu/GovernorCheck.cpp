// SPDX-License-Identifier: Apache-2.0
// ThreadGovernor on machines that are made up: no clock is read, so every run is the same.
#include "runtime/device/cpu/ThreadGovernor.h"
#include "test/runtime/RuntimeChecks.h"

#include <algorithm>
#include <cstdio>

namespace talc::test {
namespace {

constexpr int64_t microsecond = 1000, millisecond = 1000 * microsecond, second = 1000 * millisecond;
constexpr int64_t started = 100 * second;  // of the clock
int32_t reported = 0;                      // threads of others, as the system says

struct Machine {
  int32_t threads;
  int64_t work;        // nanoseconds of a step on one thread
  double overhead;     // of every thread, as a part of the work
  int64_t away = 0;    // the last thread is away so long ...
  int64_t period = 1;  // ... of each period,
  int64_t until = 0;   // until this time
  int64_t step(int64_t now, int32_t count) const {
    auto share = static_cast<int64_t>(static_cast<double>(work) * (1.0 / count + (count > 1 ? overhead : 0)));
    if (count < threads || now >= until)
      return share;
    // The last thread works only while it has its processor.
    int64_t end = now;
    for (int64_t remaining = share; remaining > 0;) {
      int64_t place = end % period, free = period - away;
      int64_t worked = place < free ? std::min(remaining, free - place) : 0;
      remaining -= worked;
      end += worked > 0 ? worked : period - place;
    }
    return end - now;
  }
};

struct Outcome {
  double relative;  // time beside that of always so many threads
  double lastPart;  // threads of the last tenth of steps, mean
};

Outcome simulate(const Machine &machine, int32_t always, int64_t duration) {
  ThreadGovernor governor(machine.threads, machine.threads, machine.threads, [] { return reported; });
  const int32_t kind = ThreadGovernor::stepKind(2, 1);
  int64_t now = 0, fixed = 0;
  double lateThreads = 0, lateSteps = 0;
  while (now < duration) {
    int32_t count = governor.choose(kind, started + now);
    int64_t time = machine.step(now, count);
    auto share = static_cast<int64_t>(static_cast<double>(machine.work) * (1.0 / count + machine.overhead / 2));
    now += time;
    governor.ran(kind, 1, started + now, time, std::max<int64_t>(time - share, 0));
    fixed += machine.step(fixed, always);
    if (now > duration / 10 * 9)
      lateThreads += count, ++lateSteps;
  }
  return {static_cast<double>(now) / static_cast<double>(fixed), lateThreads / lateSteps};
}

bool within(const char *what, const Machine &machine, int32_t always, double limit, int64_t duration = 2 * second) {
  Outcome outcome = simulate(machine, always, duration);
  char text[200];
  snprintf(text, sizeof(text), "%s, steps of %lld us on %d threads: %.3f times as long as always %d, expected %.2f",
           what, static_cast<long long>(machine.work / microsecond), machine.threads, outcome.relative, always, limit);
  return expect(outcome.relative <= limit, text);
}

bool checkSteps(int64_t work) {
  Machine two = {2, work, 0.1}, eight = {8, work, 0.03}, busy = two, hidden = two, tiny = {2, work, 0.6};
  busy.away = 3 * millisecond, busy.period = 6 * millisecond, busy.until = INT64_MAX;
  hidden = busy;
  reported = 0;
  bool good = within("nothing else runs", two, 2, 1.001) && within("nothing else runs", eight, 8, 1.001) &&
              (work > millisecond / 10 || within("threads cost more than they bring", tiny, 1, 1.04)) &&
              within("another program that the system does not tell of", hidden, 1, 1.05);
  Machine crowded = hidden;
  crowded.away = 200 * millisecond, crowded.period = 300 * millisecond;
  good = good && within("many programs that the system does not tell of", crowded, 1, 1.05, 20 * second);
  reported = 1;
  good = good && within("many other programs", crowded, 1, 1.05, 20 * second);
  good = good && within("another program", busy, 1, 1.04);
  reported = 100;  // of other containers
  good = good && within("a system that tells of others' processors", two, 2, 1.4, 4 * second);
  reported = 0;
  Machine ends = busy;
  ends.until = second;
  good = good && expect(simulate(ends, 2, 4 * second).lastPart > 1.99, "all threads again when others have gone");
  Machine once = two;
  once.away = 50 * millisecond, once.period = 3 * second, once.until = INT64_MAX;
  return good && within("a virtual machine that is stopped now and then", once, 2, 1.05, 6 * second);
}

}  // namespace

bool checkGovernor(const Arguments &) {
  for (int64_t work : {20 * microsecond, 70 * microsecond, millisecond, 25 * millisecond})
    if (!checkSteps(work))
      return false;
  return true;
}

}  // namespace talc::test
