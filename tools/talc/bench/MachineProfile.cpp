// SPDX-License-Identifier: Apache-2.0
// Every figure is the best of several rounds: a roof is what nothing exceeds.
#include "tools/talc/bench/MachineProfile.h"

#include "runtime/artifact/Cpu.h"
#include "runtime/memory/Mapping.h"
#include "runtime/parallel/ThreadPool.h"
#include "tools/talc/bench/Caches.h"
#include "tools/talc/bench/PeakLoops.h"
#include "tools/talc/bench/Stopwatch.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace talc::bench {

const MemoryLevel &MachineProfile::levelOf(double bytes) const {
  for (const MemoryLevel &level : levels)
    if (bytes <= level.capacity)
      return level;
  return levels.back();
}

namespace {

constexpr int rounds = 5;

// Lets every thread of a pool do the same work, and times the slowest.
class Team {
public:
  explicit Team(ThreadPool &pool) : pool(pool), seconds(pool.size()) {}

  double bestSeconds(const std::function<void(int32_t thread)> &work) {
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round) {  // the first one warms up
      Round state = {*this, work};
      pool.run(
          [](void *context, int32_t thread) {
            auto *round = static_cast<Round *>(context);
            round->team.pool.barrier().wait();
            Stopwatch watch(round->team.pool.size());
            round->work(thread);
            round->team.seconds[thread] = watch.seconds();
          },
          &state);
      if (round > 0)
        best = std::min(best, *std::max_element(seconds.begin(), seconds.end()));
    }
    return best;
  }

private:
  struct Round {
    Team &team;
    const std::function<void(int32_t)> &work;
  };

  ThreadPool &pool;
  std::vector<double> seconds;
};

// The kinds of vector instructions that this processor has.
std::vector<const PeakLoops *> availableLoops() {
  std::vector<const PeakLoops *> loops;
  if (detectCpuLevel() >= artifact::CpuLevel::X86_64_v3)
    loops.push_back(&avx2Loops);
  if (detectCpuLevel() >= artifact::CpuLevel::X86_64_v4)
    loops.push_back(&avx512Loops);
  return loops;
}

void measureOperations(Team &team, const std::vector<const PeakLoops *> &kinds, MachineProfile &profile) {
  constexpr int64_t roundsOfLoop = 2000000;  // some 10 ms
  for (const PeakLoops *loops : kinds) {
    double seconds = team.bestSeconds([&](int32_t) { loops->multiplyAdd(roundsOfLoop); });
    double rate = static_cast<double>(profile.threads) * roundsOfLoop * loops->operationsPerRound / seconds;
    if (rate > profile.operationsPerSecond) {
      profile.operationsPerSecond = rate;
      profile.instructions = loops->name;
    }
  }
}

// All threads read `bytes` in equal parts, until at least 256 MiB went by.
double measureReading(Team &team, int32_t threads, const PeakLoops &loops, const float *data, int64_t bytes) {
  constexpr int64_t enough = int64_t(256) << 20;
  int64_t part = std::max(bytes / threads / readGranularity, int64_t(1)) * readGranularity;
  int64_t times = std::max<int64_t>(enough / (part * threads), 1);
  double seconds = team.bestSeconds([&](int32_t thread) {
    for (int64_t i = 0; i < times; ++i)
      loops.read(data + thread * (part / 4), part);
  });
  return static_cast<double>(part * threads * times) / seconds;
}

// Capacities for this number of threads. Memory is infinite.
std::vector<MemoryLevel> levelsFor(int32_t threads) {
  std::vector<MemoryLevel> levels;
  for (const Cache &cache : findCaches()) {
    int64_t copies = (threads + cache.sharedBy - 1) / cache.sharedBy;
    levels.push_back({"L" + std::to_string(cache.level), static_cast<double>(cache.bytes * copies)});
  }
  levels.push_back({"memory", std::numeric_limits<double>::infinity()});
  return levels;
}

// Four times the largest cache, so that caches hardly help.
int64_t memoryFootprint(const std::vector<MemoryLevel> &levels) {
  constexpr int64_t least = int64_t(256) << 20;
  int64_t caches = levels.size() > 1 ? static_cast<int64_t>(levels[levels.size() - 2].capacity) : 0;
  int64_t installed = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(std::max(4 * caches, least), installed / 4);
}

}  // namespace

Status measureMachine(int32_t threads, MachineProfile &profile) {
  std::vector<const PeakLoops *> kinds = availableLoops();
  if (kinds.empty())
    return Status::failure(TALC_ERROR_CPU, "talc bench: this processor lacks %s",
                           cpuLevelFeatures(artifact::CpuLevel::X86_64_v3));
  std::unique_ptr<ThreadPool> pool;
  if (Status status = ThreadPool::create(threads, pool); status.failed())
    return status;
  Team team(*pool);
  profile = {threads, processorName(), "", 0, levelsFor(threads)};
  int64_t footprint = memoryFootprint(profile.levels);
  Mapping memory = Mapping::zeros(footprint);
  if (memory.empty())
    return Status::failure(TALC_ERROR_MEMORY, "talc bench: no memory to measure reading: %lld bytes",
                           static_cast<long long>(footprint));
  madvise(memory.data(), memory.size(), MADV_HUGEPAGE);
  memset(memory.data(), 1, memory.size());
  auto *data = reinterpret_cast<const float *>(memory.data());
  measureOperations(team, kinds, profile);
  double smaller = 0;  // capacity of the level before
  for (MemoryLevel &level : profile.levels) {
    // In the middle between what the level before holds and this one, as factors; of the first one half.
    bool isCache = level.capacity < static_cast<double>(footprint);
    double middle = smaller > 0 ? std::sqrt(smaller * level.capacity) : level.capacity / 2;
    int64_t bytes = isCache ? static_cast<int64_t>(middle) : footprint;
    smaller = level.capacity;
    for (const PeakLoops *loops : kinds)
      level.bytesPerSecond = std::max(level.bytesPerSecond, measureReading(team, threads, *loops, data, bytes));
  }
  return {};
}

}  // namespace talc::bench
