// SPDX-License-Identifier: Apache-2.0
// Reads the affinity mask, /sys/devices/system/cpu, /proc/loadavg and the control group's cpu.max (v2) or cfs quota
// (v1).
#include "runtime/device/cpu/Cores.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace talc {

// Returns the first line of a small file without its newline; empty when there is none.
static std::string firstLine(const std::string &path) {
  char line[512] = "";
  if (FILE *file = fopen(path.c_str(), "re")) {
    if (!fgets(line, sizeof(line), file))
      line[0] = 0;
    fclose(file);
  }
  line[strcspn(line, "\n")] = 0;
  return line;
}

static std::vector<int> allowedProcessors() {
  std::vector<int> result;
  // The kernel refuses masks smaller than its own, so grow until one fits.
  for (int bits = 1024; result.empty() && bits <= 1 << 20; bits *= 2) {
    cpu_set_t *set = CPU_ALLOC(bits);
    size_t bytes = CPU_ALLOC_SIZE(bits);
    if (set && sched_getaffinity(0, bytes, set) == 0)
      for (int i = 0; i < bits; ++i)
        if (CPU_ISSET_S(i, bytes, set))
          result.push_back(i);
    CPU_FREE(set);
  }
  return result;
}

static double readQuota(const std::string &folder) {
  long long quota = -1, period = 0;
  std::string line = firstLine(folder + "/cpu.max");
  if (sscanf(line.c_str(), "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
    return double(quota) / double(period);
  if (sscanf(firstLine(folder + "/cpu.cfs_quota_us").c_str(), "%lld", &quota) == 1 && quota > 0 &&
      sscanf(firstLine(folder + "/cpu.cfs_period_us").c_str(), "%lld", &period) == 1 && period > 0)
    return double(quota) / double(period);
  return HUGE_VAL;
}

// The tightest quota of the group and those around it. A container sees its own group as the root.
static double processorQuota() {
  double quota = std::min(readQuota("/sys/fs/cgroup"), readQuota("/sys/fs/cgroup/cpu"));
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (!file)
    return quota;
  char line[1024];
  while (fgets(line, sizeof(line), file)) {
    line[strcspn(line, "\n")] = 0;
    bool second = strncmp(line, "0::", 3) == 0;
    const char *path = strrchr(line, ':');
    if (!path || (!second && !strstr(line, "cpu")))
      continue;
    std::string root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", group = path + 1;
    for (; group.size() > 1; group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/')))
      quota = std::min(quota, readQuota(root + group));
  }
  fclose(file);
  return quota;
}

static int32_t limitByQuota(size_t count) {
  double limit = std::min<double>(double(count), std::ceil(processorQuota()));
  return std::max<int32_t>(1, static_cast<int32_t>(limit));
}

int32_t usableProcessors() {
  return limitByQuota(allowedProcessors().size());
}

namespace {

// A file of the system with the speed of a CPU, and the share of the fastest one's figure that others need.
struct SpeedFile {
  const char *name;
  double minShare;
};

}  // namespace

// A capacity is measured work; of two frequencies the lower one comes with less work in a cycle, too.
static constexpr SpeedFile speedFiles[] = {{"/cpu_capacity", 0.7}, {"/cpufreq/cpuinfo_max_freq", 0.8}};

// Returns the CPUs with large enough figures; all of them if the system does not tell for every one.
static std::vector<std::string> fastProcessors(const std::vector<std::string> &folders) {
  for (const SpeedFile &file : speedFiles) {
    std::vector<double> speeds;
    for (const std::string &folder : folders)
      speeds.push_back(atof(firstLine(folder + file.name).c_str()));
    if (folders.empty() || *std::min_element(speeds.begin(), speeds.end()) <= 0)
      continue;
    double minSpeed = file.minShare * *std::max_element(speeds.begin(), speeds.end());
    std::vector<std::string> fast;
    for (size_t i = 0; i < folders.size(); ++i)
      if (speeds[i] >= minSpeed)
        fast.push_back(folders[i]);
    return fast;
  }
  return folders;
}

int32_t fastCores(const std::vector<int> &processors, const std::string &system) {
  std::vector<std::string> folders, cores;
  for (int processor : processors)
    folders.push_back(system + "/cpu" + std::to_string(processor));
  for (const std::string &folder : fastProcessors(folders)) {
    std::string topology = folder + "/topology/";
    std::string core = firstLine(topology + "physical_package_id") + ":" + firstLine(topology + "core_id");
    // Each CPU counts as a core where the system hides the topology.
    cores.push_back(core == ":" ? folder : core);
  }
  std::sort(cores.begin(), cores.end());
  return static_cast<int32_t>(std::unique(cores.begin(), cores.end()) - cores.begin());
}

int32_t usableCores() {
  return limitByQuota(fastCores(allowedProcessors(), "/sys/devices/system/cpu"));
}

int32_t onlineProcessors() {
  return static_cast<int32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

// "0.20 0.18 0.12 1/80 11206": of 80 threads one runs, the caller.
int32_t otherRunningThreads() {
  char line[128] = "";
  int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t size = read(file, line, sizeof(line) - 1);
  close(file);
  line[std::max<ssize_t>(size, 0)] = 0;
  int32_t running = 0;
  return sscanf(line, "%*f %*f %*f %d/", &running) == 1 ? std::max(running - 1, 0) : 0;
}

// Returns 0 if nothing valid is set.
static int32_t readThreadLimit() {
  const char *text = getenv("TALC_MAX_THREADS");
  char *end = nullptr;
  long limit = text ? strtol(text, &end, 10) : 0;
  bool valid = limit >= 1 && limit <= INT32_MAX && *end == 0;
  return valid ? static_cast<int32_t>(limit) : 0;
}

int32_t threadLimit() {
  int32_t limit = readThreadLimit();
  return limit > 0 ? limit : usableProcessors();
}

bool threadsAreFixed() {
  return readThreadLimit() > 0;
}

}  // namespace talc
