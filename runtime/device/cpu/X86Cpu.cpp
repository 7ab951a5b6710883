// SPDX-License-Identifier: Apache-2.0
// x86-64: features by CPUID and XGETBV, and the rest of Architecture.h. Source of the levels: System V ABI for x86-64,
// "micro-architecture levels".
#if defined(__x86_64__)
#include "runtime/device/cpu/Architecture.h"
#include "runtime/device/cpu/Cpu.h"

#include <cpuid.h>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace talc {

namespace {

// A feature has a bit in a word of CPUID, and may need register files that the operating system saves.
struct Feature {
  const char *name;
  CpuLevel level;  // the lowest that has it, or may have it
  unsigned word, bit, saved;
  bool beside = false;  // a processor of the level need not have it
};

}  // namespace

const char *cpuFamily() {
  return "x86-64";
}

// Words: leaf 1 ecx, leaf 7 ebx, leaf 0x80000001 ecx, leaf 7 ecx, leaf 7.1 eax, leaf 7 edx. Saved register files: bits
// of XCR0.
constexpr unsigned basic = 0, extended = 1, amd = 2, further = 3, latest = 4, last = 5, ymm = 0x6, zmm = 0xe6;
constexpr unsigned tileData = 18, tiles = zmm | 1u << 17 | 1u << tileData;
constexpr CpuLevel v2 = CpuLevel::X86_64_v2, v3 = CpuLevel::X86_64_v3, v4 = CpuLevel::X86_64_v4;
static const Feature features[] = {
    {"sse3", v2, basic, bit_SSE3, 0},
    {"ssse3", v2, basic, bit_SSSE3, 0},
    {"sse4.1", v2, basic, bit_SSE4_1, 0},
    {"sse4.2", v2, basic, bit_SSE4_2, 0},
    {"popcnt", v2, basic, bit_POPCNT, 0},
    {"cx16", v2, basic, bit_CMPXCHG16B, 0},
    {"sahf", v2, amd, 1u << 0, 0},
    {"avx", v3, basic, bit_AVX, ymm},
    {"avx2", v3, extended, bit_AVX2, ymm},
    {"fma", v3, basic, bit_FMA, ymm},
    {"f16c", v3, basic, 1u << 29, ymm},
    {"movbe", v3, basic, bit_MOVBE, 0},
    {"xsave", v3, basic, bit_OSXSAVE, 0},
    {"lzcnt", v3, amd, 1u << 5, 0},
    {"bmi", v3, extended, bit_BMI, 0},
    {"bmi2", v3, extended, bit_BMI2, 0},
    {"avxvnni", v3, latest, 1u << 4, ymm, /*beside=*/true},
    {"avx512f", v4, extended, bit_AVX512F, zmm},
    {"avx512bw", v4, extended, bit_AVX512BW, zmm},
    {"avx512cd", v4, extended, bit_AVX512CD, zmm},
    {"avx512dq", v4, extended, bit_AVX512DQ, zmm},
    {"avx512vl", v4, extended, bit_AVX512VL, zmm},
    {"avx512vnni", v4, further, bit_AVX512VNNI, zmm, /*beside=*/true},
    {"avx512bf16", v4, latest, 1u << 5, zmm, /*beside=*/true},
    {"amx-tile", v4, last, 1u << 24, tiles, /*beside=*/true},
    {"amx-bf16", v4, last, 1u << 22, tiles, /*beside=*/true},
    {"amx-int8", v4, last, 1u << 25, tiles, /*beside=*/true},
};

static unsigned readWord(unsigned word) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const unsigned leaves[] = {1, 7, 0x80000001, 7, 7, 7}, parts[] = {0, 0, 0, 0, 1, 0};
  __get_cpuid_count(leaves[word], parts[word], &eax, &ebx, &ecx, &edx);  // leaves zeros for an unknown leaf
  return word == extended ? ebx : word == latest ? eax : word == last ? edx : ecx;
}

// Returns 0 where the operating system does not tell.
static unsigned savedRegisters() {
  if (!(readWord(basic) & bit_OSXSAVE))
    return 0;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Linux gives the registers of AMX to processes that ask, with all their threads, since it saves 8 KiB more of each.
// Source: Linux, Documentation/arch/x86/xstate.rst.
static bool getsTiles() {
  constexpr long requestPermission = 0x1023;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

static bool isThere(const Feature &feature) {
  if (!(readWord(feature.word) & feature.bit) || (feature.saved & ~savedRegisters()) != 0)
    return false;
  return feature.saved != tiles || getsTiles();
}

static const char *levelName(CpuLevel level) {
  switch (level) {
  case CpuLevel::X86_64_v2:
    return "x86-64-v2";
  case CpuLevel::X86_64_v3:
    return "x86-64-v3";
  case CpuLevel::X86_64_v4:
    return "x86-64-v4";
  case CpuLevel::Any:
    break;
  }
  return "the baseline";
}

// The level up to which the user wants features to count.
static CpuLevel highestLevel() {
  const char *wanted = getenv("TALC_CPU_LEVEL");
  if (wanted && wanted[0] == 'v' && wanted[1] >= '2' && wanted[1] <= '4' && wanted[2] == '\0')
    return static_cast<CpuLevel>(wanted[1] - '0');
  return CpuLevel::X86_64_v4;
}

static const Feature *find(const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return &feature;
  return nullptr;
}

bool hasCpuFeature(const char *name) {
  const Feature *feature = find(name);
  return feature && feature->level <= highestLevel() && isThere(*feature);
}

CpuLevel detectCpuLevel() {
  CpuLevel level = CpuLevel::X86_64_v4;
  for (const Feature &feature : features)
    if (!feature.beside && feature.level <= level && !hasCpuFeature(feature.name))
      level = feature.level == CpuLevel::X86_64_v2 ? CpuLevel::Any
                                                   : static_cast<CpuLevel>(static_cast<int32_t>(feature.level) - 1);
  return level;
}

CpuLevel requiredCpuLevel(const artifact::CodeHeader &code) {
  CpuLevel level = CpuLevel::Any;
  for (uint32_t i = 0; i < code.featureCount; ++i)
    if (const Feature *feature = find(code.features[i]); feature && feature->level > level)
      level = feature->level;
  return level;
}

std::string explainUnsupported(const artifact::CodeHeader &code, const char *target) {
  std::string lacking;
  for (uint32_t i = 0; i < code.featureCount; ++i) {
    const Feature *feature = find(code.features[i]);
    if (!feature)
      return std::string("needs a processor with ") + code.features[i] + ", which this one is not known to have";
    if (feature->beside && !hasCpuFeature(feature->name))
      lacking += (lacking.empty() ? "" : ", ") + std::string(feature->name);
  }
  std::string needs = std::string("needs a processor of level ") + target + " (";
  CpuLevel level = requiredCpuLevel(code);
  if (level <= detectCpuLevel())
    return needs + lacking + "), which this one, or its system, does not have; compile it with a lower --target";
  return needs + cpuLevelFeatures(level) + "), but this one has " + levelName(detectCpuLevel()) +
         "; compile it with a lower --target";
}

const char *cpuLevelFeatures(CpuLevel level) {
  switch (level) {
  case CpuLevel::X86_64_v2:
    return "SSE4.2, POPCNT";
  case CpuLevel::X86_64_v3:
    return "AVX2, FMA, BMI2, F16C";
  case CpuLevel::X86_64_v4:
    return "AVX-512 F, BW, CD, DQ, VL";
  case CpuLevel::Any:
    break;
  }
  return "none";
}

const uint16_t elfMachine = EM_X86_64;
const uint32_t relativeRelocation = R_X86_64_RELATIVE;

uint64_t ticks() {
  return __builtin_ia32_rdtsc();
}

void spinOnce() {
  __builtin_ia32_pause();
}

}  // namespace talc

// Calls a function with an argument, both in preserved registers.
extern "C" void talcStartStack();

// Source: System V ABI for x86-64: rbx, rbp and r12 to r15 are preserved.
asm(R"(
.text
.hidden talcSwitchStack
.globl talcSwitchStack
.type talcSwitchStack, @function
talcSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size talcSwitchStack, .-talcSwitchStack
.hidden talcStartStack
.globl talcStartStack
.type talcStartStack, @function
talcStartStack:
  movq %rbx, %rdi
  callq *%r12
  ud2
.size talcStartStack, .-talcStartStack
)");

// r15, r14, r13, r12, rbx, rbp, return address; once they are popped the pointer is a multiple of 16, as before any
// call.
const talc::FirstFrame talc::firstFrame = {7, 3, 4, 6, talcStartStack};
#endif
