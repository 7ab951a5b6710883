// SPDX-License-Identifier: Apache-2.0
// Copies the tables, and checks every number once, so that steps need not.
#include "runtime/device/gpu/LaunchCode.h"

#include <algorithm>
#include <cstring>

namespace talc {

using namespace artifact;

constexpr uint32_t maxKernels = 1 << 16, maxLaunches = 1 << 20, maxArguments = 1 << 24, maxEntryCount = 8,
                   maxModules = 16;
constexpr uint32_t maxWorkgroupThreads = 1024, maxShared = 1 << 20, maxGridY = 65535;
constexpr uint64_t maxGridX = INT32_MAX;

static bool isNumber(uint32_t base) {
  return base == static_cast<uint32_t>(LaunchBase::Number) || base >= static_cast<uint32_t>(LaunchBase::Wanted0);
}

namespace {

// Takes arrays from bytes, one after the other.
class Reader {
public:
  Reader(const unsigned char *bytes, uint64_t size) : at(bytes), rest(size) {}

  template <typename T> bool take(std::vector<T> &target, uint32_t count) {
    if (rest / sizeof(T) < count)
      return false;
    target.resize(count);
    if (count > 0)
      memcpy(target.data(), at, count * sizeof(T));
    at += count * sizeof(T);
    rest -= count * sizeof(T);
    return true;
  }

private:
  const unsigned char *at;
  uint64_t rest;
};

}  // namespace

std::string LaunchCode::readTables(const unsigned char *bytes, uint64_t size) {
  LaunchHeader header;
  if (size < sizeof(header))
    return "is too short for its tables";
  memcpy(&header, bytes, sizeof(header));
  if (memcmp(header.magic, launchMagic, sizeof(launchMagic)) != 0)
    return "has other tables than this runtime knows";
  if (header.kernelCount > maxKernels || header.launchCount > maxLaunches || header.entryCount > maxEntryCount ||
      header.argumentCount > maxArguments || header.moduleCount > maxModules)
    return "has an impossible number of kernels, launches, arguments or modules";
  Reader reader(bytes + sizeof(header), size - sizeof(header));
  std::vector<LaunchModule> moduleTable;
  if (!reader.take(moduleTable, header.moduleCount) || !reader.take(kernelTable, header.kernelCount) ||
      !reader.take(entryTable, header.entryCount) || !reader.take(launches, header.launchCount) ||
      !reader.take(arguments, header.argumentCount))
    return "is too short for its tables";
  uint64_t end = 0;
  for (const LaunchModule &module : moduleTable) {
    if (module.bytes == 0 || module.offset < end || module.offset > size || module.bytes > size - module.offset)
      return "has a module outside the section";
    end = module.offset + module.bytes;
    moduleCodes.emplace_back(reinterpret_cast<const char *>(bytes) + module.offset, module.bytes);
  }
  return "";
}

std::string LaunchCode::checkKernels() const {
  for (const LaunchKernel &kernel : kernelTable) {
    const LaunchGrid &grid = kernel.grid;
    if (!memchr(kernel.name, 0, sizeof(kernel.name)) || kernel.name[0] == 0)
      return "has a kernel whose name has no end";
    if (kernel.threads < 1 || kernel.threads > maxWorkgroupThreads || kernel.sharedBytes > maxShared ||
        kernel.dynamicBytes > maxShared)
      return "has a kernel with an impossible number of threads or of bytes of shared memory";
    if (kernel.argumentCount < 1 || grid.divisor < 1 || grid.y < 1 || grid.y > maxGridY ||
        (grid.rows != noArgument && grid.rows >= kernel.argumentCount))
      return "has a kernel with an impossible grid";
    if (kernel.module >= moduleCodes.size())
      return "has a kernel whose module is missing";
  }
  return "";
}

std::string LaunchCode::checkLaunches() const {
  for (const Launch &launch : launches) {
    if (launch.kernel >= kernelTable.size())
      return "launches a kernel that it does not have";
    if (launch.waits > 1)
      return "has a launch of which nobody knows whether it waits";
    const LaunchKernel &kernel = kernelTable[launch.kernel];
    if (launch.firstArgument > arguments.size() || kernel.argumentCount > arguments.size() - launch.firstArgument)
      return "has a launch without all its arguments";
    if (kernel.grid.rows != noArgument && !isNumber(arguments[launch.firstArgument + kernel.grid.rows].base))
      return "has a launch whose number of rows is an address";
  }
  return "";
}

std::string LaunchCode::checkArguments(const ModelInfo &facts) const {
  for (const LaunchArgument &argument : arguments) {
    if (argument.base >= launchBases || argument.fixed < 0 || argument.perToken < 0)
      return "has an argument of an unknown kind";
    const auto fixed = static_cast<uint64_t>(argument.fixed), perToken = static_cast<uint64_t>(argument.perToken);
    bool inside = perToken <= UINT32_MAX && fixed <= UINT32_MAX;
    switch (static_cast<LaunchBase>(argument.base)) {
    case LaunchBase::Weights:
      inside = fixed < facts.weightBytes && perToken == 0;
      break;
    case LaunchBase::KvCache:
      inside = fixed < facts.kvBytesPerSlot && perToken == 0;
      break;
    case LaunchBase::Arena:  // in the arena of a step of any number of tokens
      inside = fixed <= facts.arenaBytesFixed + facts.arenaBytesPerThread && perToken <= facts.arenaBytesPerToken;
      break;
    default:  // a number, or what begins where it is used
      inside = isNumber(argument.base) ? inside : fixed == 0 && perToken == 0;
    }
    if (!inside)
      return "has an argument that lies outside its buffer";
  }
  return "";
}

// Its teams, and their shared memory.
std::string LaunchCode::checkPersistent(const LaunchEntry &entry) const {
  if (entry.persistentKernel == noKernel)
    return "";
  if (entry.persistentKernel >= kernelTable.size() ||
      kernelTable[entry.persistentKernel].argumentCount != persistentArguments)
    return "has an entry with an impossible persistent kernel";
  const LaunchKernel &persistent = kernelTable[entry.persistentKernel];
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    const LaunchKernel &kernel = kernelTable[launches[entry.firstLaunch + i].kernel];
    if (teamsFor(kernel, persistent.threads, persistent.dynamicBytes) == 0)
      return "has a persistent kernel without room for its pieces";
  }
  return "";
}

std::string LaunchCode::checkEntries(const ModelInfo &facts) const {
  for (const LaunchEntry &entry : entryTable) {
    if (!memchr(entry.name, 0, sizeof(entry.name)) || entry.firstLaunch > launches.size() ||
        entry.launchCount > launches.size() - entry.firstLaunch)
      return "has an entry with launches outside its table";
    if (std::string wrong = checkPersistent(entry); !wrong.empty())
      return wrong;
  }
  auto has = [this](const char *name) {
    return std::any_of(entryTable.begin(), entryTable.end(),
                       [name](const LaunchEntry &entry) { return strcmp(entry.name, name) == 0; });
  };
  return findMissingEntry(static_cast<ModelKind>(facts.kind), has) ? "lacks an entry of the model" : "";
}

std::string LaunchCode::read(const unsigned char *bytes, uint64_t size, const ModelInfo &facts) {
  std::string wrong = readTables(bytes, size);
  wrong = wrong.empty() ? checkKernels() : wrong;
  wrong = wrong.empty() ? checkLaunches() : wrong;
  wrong = wrong.empty() ? checkArguments(facts) : wrong;
  return wrong.empty() ? checkEntries(facts) : wrong;
}

std::string LaunchCode::describeSteps(const LaunchEntry &entry, uint32_t tokensAtOnce) {
  const std::string one = "1", all = std::to_string(entry.launchCount);
  if (tokensAtOnce == 0)
    return all;
  const EntryInfo *info = findEntryInfo(entry.name);
  return info && info->isSingleToken ? one
                                     : one + " for up to " + std::to_string(tokensAtOnce) + " tokens, else " + all;
}

std::vector<uint64_t> LaunchCode::weightOffsets() const {
  std::vector<uint64_t> offsets;
  for (const LaunchArgument &argument : arguments)
    if (argument.base == static_cast<uint32_t>(LaunchBase::Weights))
      offsets.push_back(static_cast<uint64_t>(argument.fixed));
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets;
}

// No sum overflows: tokens are fewer than 2^31, and factors were checked.
uint64_t LaunchCode::value(const Launch &launch, uint32_t number, const LaunchValues &values) const {
  const LaunchArgument &argument = this->argument(launch, number);
  return values.bases[argument.base] + static_cast<uint64_t>(argument.fixed) +
         static_cast<uint64_t>(argument.perToken) * values.tokens;
}

uint64_t LaunchCode::gridX(const Launch &launch, const LaunchValues &values) const {
  const LaunchGrid &grid = kernelTable[launch.kernel].grid;
  uint64_t rows = grid.rows == noArgument ? 0 : value(launch, grid.rows, values);
  uint64_t parts = rows / grid.divisor + (rows % grid.divisor != 0);
  uint64_t result = 0;
  bool overflow = __builtin_add_overflow(parts, static_cast<uint64_t>(grid.plus), &result);
  return overflow || result > maxGridX ? UINT64_MAX : result;
}

}  // namespace talc
