// SPDX-License-Identifier: Apache-2.0
// Every figure is the rate of the slowest thread while all of them do the same work. Caches are those that the system
// describes in /sys/devices/system/cpu/cpu0/cache.
//
// The roof of a kernel is its operations at the peak of such products, or its bytes at the bandwidth of the level that
// they come from, whichever takes longer. Weights and KV caches are read once per step, so they come from the level
// that holds all that a step reads of them; activations were just written, so they come from the level that holds the
// kernel's own.
#include "tools/talc/bench/MachineProfile.h"

#include "runtime/device/cpu/Cpu.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/memory/Mapping.h"
#include "tools/talc/bench/KernelList.h"
#include "tools/talc/bench/PeakLoops.h"
#include "tools/talc/bench/Timing.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace talc::bench {

const MemoryLevel &MachineProfile::levelHolding(double bytes) const {
  for (const MemoryLevel &level : levels)
    if (bytes <= level.capacity)
      return level;
  return levels.back();
}

static bool isPeakFor(const MatmulPeak &peak, const std::string &rounded) {
  if (rounded.empty() || peak.rounded.empty())
    return rounded.empty() && peak.rounded.empty();
  return std::find(peak.rounded.begin(), peak.rounded.end(), rounded) != peak.rounded.end();
}

// Special peaks come after general ones.
const MatmulPeak &MachineProfile::peakFor(const KernelEntry &kernel) const {
  const std::string weights = kernel.weights();
  for (auto peak = peaks.rbegin(); peak != peaks.rend(); ++peak)
    if (isPeakFor(*peak, kernel.rounded) && (peak->weights.empty() || peak->weights == weights))
      return *peak;
  return f32();
}

std::string MachineProfile::describe() const {
  std::string user = device.empty() ? fmt::format("{} thread{}", threads, threads == 1 ? "" : "s") : device;
  std::string text =
      fmt::format("{}, {}: {:.1f} GFLOP/s ({})", processor, user, 1e-9 * f32().operationsPerSecond, f32().instructions);
  for (size_t i = 1; i < peaks.size(); ++i)
    text += fmt::format(", {} {:.1f} {}/s ({})", peaks[i].roof, 1e-9 * peaks[i].operationsPerSecond,
                        peaks[i].rounded.empty() ? "GFLOP" : "GOP", peaks[i].instructions);
  for (const MemoryLevel &level : levels)
    text += fmt::format(", {} {:.1f} GB/s", level.name, 1e-9 * level.bytesPerSecond);
  return text;
}

namespace {

// Returns capacities for this number of threads. Memory is infinite.
std::vector<MemoryLevel> levelsFor(int32_t threads) {
  std::vector<MemoryLevel> levels;
  for (const Cache &cache : detectCaches()) {
    int64_t copies = (threads + cache.sharedBy - 1) / cache.sharedBy;
    levels.push_back({"L" + std::to_string(cache.level), static_cast<double>(cache.bytes * copies)});
  }
  levels.push_back({"memory", std::numeric_limits<double>::infinity()});
  return levels;
}

// Returns twice the size of the largest cache, so that reading in turn never hits it.
int64_t memoryFootprint(const std::vector<MemoryLevel> &levels) {
  constexpr int64_t minBytes = int64_t(256) << 20;
  int64_t caches = levels.size() > 1 ? static_cast<int64_t>(levels[levels.size() - 2].capacity) : 0;
  int64_t installed = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(std::max(2 * caches, 2 * minBytes), installed / 4);
}

// Returns the bytes to read for a level: the geometric mean of its capacity and that of the level before; half the
// capacity for the first level.
int64_t bytesFor(const std::vector<MemoryLevel> &levels, size_t index, int64_t footprint) {
  double capacity = levels[index].capacity, before = index > 0 ? levels[index - 1].capacity : capacity / 4;
  return capacity < static_cast<double>(footprint) ? static_cast<int64_t>(std::sqrt(before * capacity)) : footprint;
}

struct Workplace {
  std::unique_ptr<ThreadPool> pool;
  PeakLoops loops;
  const PeakLoop *fastest = nullptr;  // for multiply-adds of f32
  Mapping memory;
  int64_t nextPart = 0;  // the offset in memory to read next

  // Returns the seconds of the slowest thread.
  double slowestSeconds(const std::function<void(int32_t thread)> &work);
  double operationsPerSecond(const PeakLoop &loop);
  double bytesPerSecond(int64_t bytes);
};

double Workplace::slowestSeconds(const std::function<void(int32_t thread)> &work) {
  std::vector<double> seconds(pool->size());
  struct Round {
    ThreadPool &pool;
    const std::function<void(int32_t)> &work;
    std::vector<double> &seconds;
  } round = {*pool, work, seconds};
  pool->run(
      [](void *context, int32_t thread) {
        auto *round = static_cast<Round *>(context);
        round->pool.wait(thread);
        Stopwatch watch(round->pool.size());
        round->work(thread);
        round->seconds[thread] = watch.seconds();
      },
      &round);
  return *std::max_element(seconds.begin(), seconds.end());
}

double Workplace::operationsPerSecond(const PeakLoop &loop) {
  constexpr int64_t roundsOfLoop = 4000000;  // some 20 ms
  double seconds = slowestSeconds([&](int32_t) { loop.run(roundsOfLoop); });
  return static_cast<double>(pool->size()) * roundsOfLoop * loop.operationsPerRound / seconds;
}

// All threads read equal parts of a range repeatedly until 256 MiB are read; of larger ranges the next 256 MiB.
double Workplace::bytesPerSecond(int64_t bytes) {
  constexpr int64_t enough = int64_t(256) << 20;
  int64_t range = std::min(bytes, enough);
  int64_t part = std::max(range / pool->size() / readGranularity, int64_t(1)) * readGranularity;
  int64_t times = std::max<int64_t>(enough / (part * pool->size()), 1);
  nextPart = nextPart + range <= bytes - range ? nextPart + range : 0;
  const auto *data = reinterpret_cast<const float *>(memory.data() + nextPart);
  double seconds = slowestSeconds([&](int32_t thread) {
    for (int64_t i = 0; i < times; ++i)
      loops.read(data + thread * (part / 4), part);
  });
  return static_cast<double>(part * pool->size() * times) / seconds;
}

class Processors final : public Machine {
public:
  Processors(std::unique_ptr<Workplace> workplace, int32_t threads) : workplace(std::move(workplace)) {
    best.threads = threads;
    best.processor = processorName();
    best.levels = levelsFor(threads);
    measureProfile();
  }
  double operationsPerSecond() override { return workplace->operationsPerSecond(*workplace->fastest); }
  double bytesPerSecond(double bytes) override { return readingRate(best.levelHolding(bytes)); }
  void measureAt(double bytes) override;

private:
  static constexpr int rounds = 6;

  void measureProfile();
  void measureProducts(const PeakLoop &loop);
  double readingRate(const MemoryLevel &level);

  std::unique_ptr<Workplace> workplace;
};

void Processors::measureProfile() {
  for (int round = 0; round < rounds; ++round) {
    for (const PeakLoop &loop : workplace->loops.products)
      measureProducts(loop);
    for (MemoryLevel &level : best.levels)
      level.bytesPerSecond = std::max(level.bytesPerSecond, readingRate(level));
  }
}

void Processors::measureAt(double bytes) {
  auto level = std::find_if(best.levels.begin(), best.levels.end(),
                            [&](const MemoryLevel &other) { return bytes <= other.capacity; });
  if (level + 1 >= best.levels.end() || bytes > static_cast<double>(workplace->memory.size()))
    return;
  level->bytesPerSecond = 0;
  for (int round = 0; round < rounds; ++round)
    level->bytesPerSecond = std::max(level->bytesPerSecond, workplace->bytesPerSecond(static_cast<int64_t>(bytes)));
}

void Processors::measureProducts(const PeakLoop &loop) {
  auto peak = std::find_if(best.peaks.begin(), best.peaks.end(),
                           [&](const MatmulPeak &known) { return known.roof == loop.roof; });
  if (peak == best.peaks.end())
    peak = best.peaks.insert(peak, MatmulPeak());
  double rate = workplace->operationsPerSecond(loop);
  if (rate <= peak->operationsPerSecond)
    return;
  *peak = {loop.roof, loop.rounded, loop.instructions, rate};
  if (peak == best.peaks.begin())
    workplace->fastest = &loop;
}

double Processors::readingRate(const MemoryLevel &level) {
  auto index = static_cast<size_t>(&level - best.levels.data());
  return workplace->bytesPerSecond(bytesFor(best.levels, index, static_cast<int64_t>(workplace->memory.size())));
}

}  // namespace

Status Machine::create(int32_t threads, std::unique_ptr<Machine> &machine) {
  auto workplace = std::make_unique<Workplace>();
  workplace->loops = availableLoops();
  if (workplace->loops.products.empty())
    return Status::failure(TALC_ERROR_CPU, "talc bench: this processor lacks %s",
                           cpuLevelFeatures(CpuLevel::X86_64_v3));
  if (Status status = ThreadPool::create(threads, workplace->pool); status.failed())
    return status;
  int64_t footprint = memoryFootprint(levelsFor(threads));
  workplace->memory = Mapping::zeros(footprint);
  if (workplace->memory.empty())
    return Status::failure(TALC_ERROR_MEMORY, "talc bench: no memory to measure reading: %lld bytes",
                           static_cast<long long>(footprint));
  madvise(workplace->memory.data(), workplace->memory.size(), MADV_HUGEPAGE);
  memset(workplace->memory.data(), 1, workplace->memory.size());
  machine = std::make_unique<Processors>(std::move(workplace), threads);
  return {};
}

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

// "0-3,8-11" has 8 CPUs.
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
  return llvm::sys::getHostCPUName().str();  // Arm CPUs have a number there, which LLVM knows
}

double KernelWork::minSeconds(double storedBytesPerSecond, double slowdown) const {
  return std::max(computing * slowdown, storedBytes / storedBytesPerSecond + passing);
}

KernelWork kernelWork(const KernelEntry &kernel, const StepShape &step, const MachineProfile &machine) {
  StepCosts call = kernel.callCosts(step);
  auto calls = static_cast<double>(kernel.calls);
  const MemoryLevel &passed = machine.levelHolding(call.bytes());
  return {calls * call.operations / machine.peakFor(kernel).operationsPerSecond,
          calls * call.passedBytes / passed.bytesPerSecond, calls * call.storedBytes, passed.name};
}

}  // namespace talc::bench
