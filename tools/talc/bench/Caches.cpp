// SPDX-License-Identifier: Apache-2.0
// Reads /sys/devices/system/cpu/cpu0/cache and /proc/cpuinfo.
#include "tools/talc/bench/Caches.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace talc::bench {

static std::string readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "32K", "1M".
static int64_t parseSize(const std::string &text) {
  char *end = nullptr;
  int64_t size = std::strtoll(text.c_str(), &end, 10);
  return *end == 'K' ? size << 10 : *end == 'M' ? size << 20 : size;
}

// "0-3,8-11" has 8 processors.
static int64_t countProcessors(const std::string &list) {
  int64_t count = 0;
  const char *at = list.c_str();
  while (*at >= '0' && *at <= '9') {
    char *end = nullptr;
    int64_t first = std::strtoll(at, &end, 10), last = first;
    if (*end == '-')
      last = std::strtoll(end + 1, &end, 10);
    count += last - first + 1;
    at = *end == ',' ? end + 1 : end;
  }
  return std::max<int64_t>(count, 1);
}

std::vector<Cache> detectCaches() {
  std::vector<Cache> caches;
  for (int i = 0;; ++i) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string level = readLine(folder + "level");
    if (level.empty())
      break;
    Cache cache = {std::atoi(level.c_str()), parseSize(readLine(folder + "size")),
                   countProcessors(readLine(folder + "shared_cpu_list"))};
    if (readLine(folder + "type") != "Instruction" && cache.bytes > 0)
      caches.push_back(cache);
  }
  std::sort(caches.begin(), caches.end(), [](const Cache &a, const Cache &b) { return a.level < b.level; });
  return caches;
}

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("model name", 0) == 0)
      return line.substr(std::min(line.size(), line.find(':') + 2));
  return llvm::sys::getHostCPUName().str();  // ARM's have a number there, which LLVM knows
}

}  // namespace talc::bench
