// SPDX-License-Identifier: Apache-2.0
// Names of 64-bit ARM processors, the levels that code is made for, and what this machine is.
//
// NEON has 32 registers of 4 lanes: as many floats as 16 registers of 8, so tiles have the columns of AVX2 and twice
// its vectors. A multiply-add by element takes a row's scalar from a lane, and needs no broadcast.
#include "compiler/targets/cpu/CpuTarget.h"

#include "compiler/Error.h"
#include "compiler/passes/schedule/cpu/Isa.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <unistd.h>

namespace talc::cpu {

namespace {

// A level has the features of those before it, too; LLVM's names, which are also those of artifacts.
struct Level {
  const char *name, *dots;
  std::vector<const char *> features;
};

}  // namespace

static const std::vector<Level> &levels() {
  static const std::vector<Level> list = {{"aarch64", "neon", {"neon", "fullfp16"}},
                                          {"aarch64+dotprod", "dotprod", {"dotprod"}}};
  return list;
}

static bool isHost() {
  return llvm::Triple(llvm::sys::getProcessTriple()).isAArch64();
}

// 0: unknown.
static int64_t hostCacheBytes() {
  return std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 0);
}

static void initializeLlvm() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

// Adds what LLVM writes with a sign: +neon.
static void addFeatures(llvm::ArrayRef<llvm::StringRef> signedNames, llvm::StringSet<> &features) {
  for (llvm::StringRef name : signedNames)
    if (name.consume_front("+"))
      features.insert(name);
}

// The features of a level, or of a processor; nothing for another name.
static std::optional<llvm::StringSet<>> getFeatures(llvm::StringRef name) {
  llvm::StringSet<> features;
  for (const Level &level : levels()) {
    for (const char *feature : level.features)
      features.insert(feature);
    if (name == level.name)
      return features;
  }
  std::optional<llvm::AArch64::CpuInfo> cpu = llvm::AArch64::parseCpu(name);
  if (!cpu)
    return std::nullopt;
  features.clear();
  std::vector<llvm::StringRef> names;
  llvm::AArch64::getExtensionFeatures(cpu->getImpliedExtensions(), names);
  addFeatures(names, features);
  return features;
}

static llvm::StringSet<> featuresOfHost() {
  llvm::StringSet<> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.insert(feature.first());
  return features;
}

// The facts of the highest level whose features are all there; without vectors if there is none.
static CpuFacts getCpuFacts(const llvm::StringSet<> &features) {
  CpuFacts facts;
  facts.needs.family = "aarch64";
  facts.triple = "aarch64-unknown-linux-gnu";
  facts.initialize = initializeLlvm;
  facts.halideName = "arm-64-linux";
  // For no processor in particular. A full tile has two registers to spare, and whatever latencies LLVM's scheduler
  // knows, it moves loads and constants ahead until accumulators are spilled somewhere; all of these processors reorder
  // instructions themselves.
  facts.cpu = facts.tune = "generic";
  facts.keepsOrder = true;
  facts.loadsPairs = true;
  facts.cacheBytes = 512 << 10;  // of Cortex-A76 and A78, half of what Neoverse cores have
  for (const Level &level : levels()) {
    if (!llvm::all_of(level.features, [&](llvm::StringRef name) { return features.contains(name); }))
      break;
    facts.name = level.name;
    facts.dots = level.dots;
    facts.traits = neonTraits();
    for (const char *feature : level.features) {
      facts.needs.features.push_back(feature);
      facts.features += (facts.features.empty() ? "+" : ",+") + std::string(feature);
    }
  }
  return facts;
}

std::vector<std::string> aarch64Names() {
  std::vector<std::string> result;
  for (const Level &level : levels())
    result.emplace_back(level.name);
  llvm::SmallVector<llvm::StringRef> names;
  llvm::AArch64::fillValidCPUArchList(names);
  for (llvm::StringRef name : names)
    if (std::optional<llvm::StringSet<>> features = getFeatures(name); features && !getCpuFacts(*features).name.empty())
      result.push_back(name.str());
  return result;
}

llvm::Expected<targets::TargetPtr> parseAarch64(llvm::StringRef name) {
  bool native = name == "native" && isHost();
  std::optional<llvm::StringSet<>> features = native ? featuresOfHost() : getFeatures(name);
  if (!features)
    return targets::TargetPtr();
  llvm::StringRef cpu = native ? llvm::sys::getHostCPUName() : name;
  CpuFacts facts = getCpuFacts(*features);
  if (facts.name.empty())
    return makeError(ErrorCode::BadTarget,
                     "--target={}: the processor {} lacks half-precision arithmetic (ARMv8.2 fullfp16), which talc's "
                     "code needs; to compile for another machine, use --target=aarch64",
                     name.str(), cpu.str());
  if (int64_t measuredBytes = native ? hostCacheBytes() : 0; measuredBytes > 0)
    facts.cacheBytes = measuredBytes;
  return std::make_shared<CpuTarget>(std::move(facts));
}

}  // namespace talc::cpu
