// SPDX-License-Identifier: Apache-2.0
// CPU level detection by CPUID and XGETBV. Source: System V ABI for x86-64, "micro-architecture levels".
#include "runtime/device/cpu/Cpu.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace talc {

using artifact::CpuLevel;

#if defined(__x86_64__)
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf) {
  Registers r;
  __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);  // leaves zeros for an unknown leaf
  return r;
}

bool all(unsigned value, unsigned bits) {
  return (value & bits) == bits;
}

// Which register files the operating system saves; needs OSXSAVE.
unsigned savedRegisters() {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

CpuLevel processorLevel() {
  Registers basic = cpuid(1), extended = cpuid(7), amd = cpuid(0x80000001);
  constexpr unsigned lahf = 1u << 0, lzcnt = 1u << 5;                  // leaf 0x80000001 ecx
  constexpr unsigned f16c = 1u << 29, sseYmm = 0x6, sseYmmZmm = 0xe6;  // leaf 1 ecx; XCR0
  if (!all(basic.ecx, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) ||
      !all(amd.ecx, lahf))
    return CpuLevel::Any;
  if (!all(basic.ecx, bit_AVX | bit_FMA | bit_MOVBE | bit_OSXSAVE | f16c) || !all(amd.ecx, lzcnt) ||
      !all(extended.ebx, bit_AVX2 | bit_BMI | bit_BMI2) || !all(savedRegisters(), sseYmm))
    return CpuLevel::X86_64_v2;
  if (!all(extended.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) ||
      !all(savedRegisters(), sseYmmZmm))
    return CpuLevel::X86_64_v3;
  return CpuLevel::X86_64_v4;
}

}  // namespace
#else
static CpuLevel processorLevel() {
  return CpuLevel::Any;
}
#endif

CpuLevel detectCpuLevel() {
  CpuLevel detected = processorLevel();
  const char *wanted = getenv("TALC_CPU_LEVEL");
  if (!wanted)
    return detected;
  for (CpuLevel level : {CpuLevel::X86_64_v2, CpuLevel::X86_64_v3, CpuLevel::X86_64_v4})
    if (strcmp(wanted, cpuLevelName(level) + strlen("x86-64-")) == 0 && level < detected)
      return level;
  return detected;
}

const char *cpuLevelName(CpuLevel level) {
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

}  // namespace talc
