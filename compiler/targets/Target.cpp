// SPDX-License-Identifier: Apache-2.0
// Knows which processors talc has code for.
#include "compiler/targets/Target.h"

#include "compiler/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>
#include <unistd.h>

namespace talc::targets {

using artifact::CpuLevel;

static bool isKnown(llvm::StringRef cpu) {
  return llvm::X86::parseArchX86(cpu, true) != llvm::X86::CK_None;
}

static llvm::StringSet<> featuresOf(llvm::StringRef cpu) {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::getFeaturesForCPU(cpu, names);
  llvm::StringSet<> result;
  for (llvm::StringRef name : names)
    result.insert(name);
  return result;
}

static llvm::StringSet<> featuresOfHost() {
  llvm::StringSet<> result;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      result.insert(feature.first());
  return result;
}

// The highest level of the psABI (table 3.1) whose features are all present. LLVM's lists leave out what follows from
// another feature, such as avx from avx2.
static CpuLevel levelOf(const llvm::StringSet<> &features) {
  auto has = [&](std::initializer_list<llvm::StringRef> names) {
    return llvm::all_of(names, [&](llvm::StringRef name) { return features.contains(name); });
  };
  if (!has({"cx16", "popcnt", "sse4.2"}))
    return CpuLevel::Any;
  if (!has({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}))
    return CpuLevel::X86_64_v2;
  if (!has({"avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return CpuLevel::X86_64_v3;
  return CpuLevel::X86_64_v4;
}

// Zen 2 to 4 have 512 KiB to 1 MiB, servers with AVX-512 have 1 to 2 MiB.
static int64_t commonCacheBytes(CpuLevel level) {
  return level == CpuLevel::X86_64_v4 ? 1 << 20 : 512 << 10;
}

// 0: unknown.
static int64_t hostCacheBytes() {
  return std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 0);
}

llvm::Expected<Target> parseTarget(llvm::StringRef name) {
  bool native = name == "native";
  llvm::StringRef cpu = native ? llvm::sys::getHostCPUName() : name;
  if (!native && !isKnown(cpu))
    return makeError(ErrorCode::BadTarget,
                     "--target={}: unknown; expected native, x86-64-v3, x86-64-v4, or the name of a processor such as "
                     "znver3 or skylake-avx512",
                     name.str());
  CpuLevel level = levelOf(native ? featuresOfHost() : featuresOf(cpu));
  if (level < CpuLevel::X86_64_v3)
    return makeError(ErrorCode::BadTarget,
                     "--target={}: the processor {} lacks instructions of x86-64-v3 (AVX2 and FMA), which talc's code "
                     "needs; to compile for another machine, use --target=x86-64-v3",
                     name.str(), cpu.str());
  Target target;
  target.cpu = level == CpuLevel::X86_64_v4 ? "x86-64-v4" : "x86-64-v3";
  target.tune = isKnown(cpu) ? cpu.str() : target.cpu;
  target.level = level;
  target.vectorLanes = level == CpuLevel::X86_64_v4 ? 16 : 8;
  int64_t found = native ? hostCacheBytes() : 0;
  target.cacheBytes = found > 0 ? found : commonCacheBytes(level);
  return target;
}

llvm::Expected<std::vector<Target>> parseTargets(llvm::StringRef list) {
  std::vector<Target> result;
  for (llvm::StringRef name : llvm::split(list, ',')) {
    llvm::Expected<Target> target = parseTarget(name);
    if (!target)
      return target.takeError();
    for (const Target &other : result)
      if (other.level == target->level)
        return makeError(ErrorCode::BadTarget, "--target={}: {} needs the same CPU level as another one of the list",
                         list.str(), name.str());
    result.push_back(std::move(*target));
  }
  llvm::sort(result, [](const Target &a, const Target &b) { return a.level > b.level; });
  return result;
}

}  // namespace talc::targets
