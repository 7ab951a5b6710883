// SPDX-License-Identifier: Apache-2.0
// Reads /proc/stat, /proc/thread-self/schedstat and the process's own account, before and after.
#include "tools/talc/bench/MachineUse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <sys/resource.h>
#include <unistd.h>

namespace talc::bench {

static double seconds(const timeval &time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Returns how long this thread has waited for a CPU: the second number of its schedstat, in nanoseconds.
static double queuedSeconds() {
  unsigned long long running = 0, queued = 0;
  if (FILE *file = fopen("/proc/thread-self/schedstat", "re")) {
    if (fscanf(file, "%llu %llu", &running, &queued) != 2)
      queued = 0;
    fclose(file);
  }
  return 1e-9 * static_cast<double>(queued);
}

// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
MachineUseMeter::Counts MachineUseMeter::count() {
  Counts counts;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  counts.clock = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft = 0, steal = 0;
  if (FILE *file = fopen("/proc/stat", "re")) {
    if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &interrupts,
               &soft, &steal) < 7)
      user = nice = system = interrupts = soft = steal = 0;
    fclose(file);
  }
  auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  counts.used = static_cast<double>(user + nice + system + interrupts + soft) / ticks;
  counts.stolen = static_cast<double>(steal) / ticks;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage own = {};
    getrusage(who, &own);
    counts.own += seconds(own.ru_utime) + seconds(own.ru_stime);
    counts.displacements += own.ru_nivcsw;
  }
  counts.waited = queuedSeconds();
  return counts;
}

MachineUse MachineUseMeter::read() const {
  Counts end = count();
  MachineUse use;
  use.seconds = std::max(end.clock - begin.clock, 1e-3);
  use.processors = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  use.others = std::max(end.used - begin.used - (end.own - begin.own), 0.0) / use.seconds;
  use.stolen = std::max(end.stolen - begin.stolen, 0.0) / use.seconds;
  use.waited = std::max(end.waited - begin.waited, 0.0);
  use.displacements = end.displacements - begin.displacements;
  return use;
}

std::string MachineUse::describe() const {
  std::string text = fmt::format("Other programs used {:.1f} of {:.0f} processors meanwhile", others, processors);
  if (stolen >= 0.05)
    text += fmt::format(", the host of this virtual machine {:.1f}", stolen);
  return text + fmt::format(", and talc's threads had to make room {} times in {:.1f} s (involuntary switches; the "
                            "first of them waited {:.2f} s in the run queue): figures with several threads say little "
                            "about an idle machine.",
                            displacements, seconds, waited);
}

std::string usageNotes(const MachineUse &use, bool someShareExceeds) {
  std::string text;
  if (use.disturbs())
    text += "\n" + use.describe() + "\n";
  if (someShareExceeds)
    text += use.disturbs()
                ? "\nA share above 100 %: other programs left less of the machine while its peak was measured "
                  "than during the test.\n"
                : "\nA share above 100 %: some of what a step reads stayed in a faster cache than the one it "
                  "is held against, or the processor's clock rose after its peak was measured.\n";
  return text;
}

}  // namespace talc::bench
