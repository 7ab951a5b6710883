// SPDX-License-Identifier: Apache-2.0
// Names of processors, the levels of the psABI (x86-64, table 3.1) that code is made for, and what this machine is.
#include "compiler/targets/cpu/CpuTarget.h"

#include "compiler/Error.h"
#include "compiler/passes/schedule/cpu/Isa.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>
#include <unistd.h>

namespace talc::cpu {

namespace {

// A level has the features of those before it, too, but for levels that stand aside.
struct Level {
  const char *name, *cpu;  // cpu: LLVM's, with those features of the level that stand in `beside`
  IsaTraits (*traits)();
  int64_t cacheBytes;
  // LLVM's names, which are also those of artifacts. Its lists leave out what follows from another feature, such as avx
  // from avx2: those stand in `implied`.
  std::vector<const char *> features, implied;
  const char *beside = "";
  bool vnni = false, bf16 = false, amx = false;
  bool aside = false;
};

}  // namespace

// Zen 2 to 4 have an L2 of 512 KiB to 1 MiB, servers with AVX-512 have 1 to 2 MiB, those with AMX 2; PCs with AVX-VNNI
// have 1.25 to 3 MiB, small cores a part of 2 to 4.
static const std::vector<Level> &levels() {
  static const std::vector<Level> list = {
      {"x86-64-v3",
       "x86-64-v3",
       avx2Traits,
       512 << 10,
       {"cx16", "popcnt", "sse4.2", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"},
       {"sse3", "ssse3", "sse4.1", "sahf", "avx"}},
      // Processors with AVX-512 need not have the narrower instruction.
      {"x86-64-v3+vnni",
       "x86-64-v3",
       avx2Traits,
       1 << 20,
       {"avxvnni"},
       {},
       "+avxvnni",
       true,
       false,
       false,
       /*aside=*/true},
      {"x86-64-v4", "x86-64-v4", avx512Traits, 1 << 20, {"avx512bw", "avx512cd", "avx512dq", "avx512vl"}, {"avx512f"}},
      {"x86-64-v4+vnni", "x86-64-v4", avx512Traits, 1 << 20, {"avx512vnni"}, {}, "+avx512vnni", true},
      {"x86-64-v4+bf16", "x86-64-v4", avx512Traits, 1 << 20, {"avx512bf16"}, {}, "+avx512vnni,+avx512bf16", true, true},
      {"x86-64-v4+amx",
       "x86-64-v4",
       avx512Traits,
       2 << 20,
       {"amx-tile", "amx-bf16", "amx-int8"},
       {},
       "+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8",
       true,
       true,
       true}};
  return list;
}

// Null: it is none.
static const Level *levelNamed(llvm::StringRef name) {
  for (const Level &level : levels())
    if (name == level.name)
      return &level;
  return nullptr;
}

static bool isKnown(llvm::StringRef cpu) {
  return llvm::X86::parseArchX86(cpu, true) != llvm::X86::CK_None;
}

// The levels whose features one has, itself the last one.
static std::vector<const Level *> includedLevels(const Level &level) {
  std::vector<const Level *> result;
  for (const Level *part = levels().data(); part != &level; ++part)
    if (!part->aside)
      result.push_back(part);
  result.push_back(&level);
  return result;
}

// The features of a level, or of a processor; LLVM has a processor for a level except for some features.
static llvm::StringSet<> getFeatures(llvm::StringRef cpu) {
  llvm::StringSet<> result;
  if (const Level *level = levelNamed(cpu)) {
    for (const Level *part : includedLevels(*level))
      result.insert_range(part->features);
    cpu = level->cpu;
  }
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::getFeaturesForCPU(cpu, names);
  llvm::StringMap<bool> implied;
  for (llvm::StringRef name : names) {
    result.insert(name);
    llvm::X86::updateImpliedFeatures(name, /*Enabled=*/true, implied);
  }
  for (const auto &feature : implied)
    result.insert(feature.first());
  return result;
}

static llvm::StringSet<> featuresOfHost() {
  llvm::StringSet<> result;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      result.insert(feature.first());
  return result;
}

// 0: unknown.
static int64_t hostCacheBytes() {
  return std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 0);
}

static void initializeLlvm() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

// The highest level whose features are all there; null: there is none.
static const Level *highestLevel(const llvm::StringSet<> &features) {
  const Level *highest = nullptr;
  for (const Level &level : levels()) {
    bool isThere = llvm::all_of(level.features, [&](llvm::StringRef name) { return features.contains(name); });
    if (isThere)
      highest = &level;
    else if (!level.aside)
      break;
  }
  return highest;
}

// Without vectors if the features are those of none of the levels.
static CpuFacts getCpuFacts(const llvm::StringSet<> &features) {
  CpuFacts facts;
  facts.needs.family = "x86-64";
  facts.triple = "x86_64-unknown-linux-gnu";
  facts.initialize = initializeLlvm;
  // LLVM's second scheduler knows no reason to wait with a prefetch: for Zen it brings all of an iteration together,
  // more than a processor has room for at a time.
  facts.keepsSchedule = true;
  const Level *level = highestLevel(features);
  if (!level)
    return facts;
  facts.name = level->name;
  facts.cpu = level->cpu;
  facts.features = level->beside;
  facts.dots = level->vnni ? "vnni" : "avx2";
  facts.bf16 = level->bf16;
  facts.amx = level->amx;
  facts.traits = level->traits();
  facts.traits.tileRegisters = level->amx;
  facts.halideName = "x86-64-linux-sse41-avx-avx2-fma-f16c";
  if (facts.traits.hasLargeRegisterFile())
    facts.halideName += "-avx512-avx512_skylake";
  facts.cacheBytes = level->cacheBytes;
  for (const Level *part : includedLevels(*level)) {
    llvm::append_range(facts.needs.features, part->features);
    llvm::append_range(facts.needs.features, part->implied);
  }
  return facts;
}

std::vector<std::string> x86Names() {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  std::vector<std::string> result = {"native", "x86-64-v3+vnni", "x86-64-v4+vnni", "x86-64-v4+bf16", "x86-64-v4+amx"};
  for (llvm::StringRef name : names)
    if (!getCpuFacts(getFeatures(name)).cpu.empty())
      result.push_back(name.str());
  return result;
}

llvm::Expected<targets::TargetPtr> parseX86(llvm::StringRef name) {
  bool native = name == "native" && llvm::Triple(llvm::sys::getProcessTriple()).isX86();
  llvm::StringRef cpu = native ? llvm::sys::getHostCPUName() : name;
  if (!native && !levelNamed(cpu) && !isKnown(cpu))
    return targets::TargetPtr();
  CpuFacts facts = getCpuFacts(native ? featuresOfHost() : getFeatures(cpu));
  if (facts.cpu.empty())
    return makeError(ErrorCode::BadTarget,
                     "--target={}: the processor {} lacks instructions of x86-64-v3 (AVX2 and FMA), which talc's code "
                     "needs; to compile for another machine, use --target=x86-64-v3",
                     name.str(), cpu.str());
  facts.tune = isKnown(cpu) ? cpu.str() : facts.cpu;
  // Zen 5 begins a prefetch in every cycle, whatever memory does. On Zen 4 they wait for room in L1, which is for 24
  // lines: memory brings 19 GB/s so, and 30 to the prefetching of L2.
  facts.dropsPrefetches = facts.tune == "znver5";
  facts.prefetchesStreams = facts.tune == "znver4";
  if (int64_t measuredBytes = native ? hostCacheBytes() : 0; measuredBytes > 0)
    facts.cacheBytes = measuredBytes;
  return std::make_shared<CpuTarget>(std::move(facts));
}

}  // namespace talc::cpu
