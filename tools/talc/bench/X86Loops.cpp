// SPDX-License-Identifier: Apache-2.0
// Loops for x86-64.
#if defined(__x86_64__)
#include "runtime/device/cpu/Cpu.h"
#include "tools/talc/bench/PeakLoops.h"

#include <immintrin.h>

namespace talc::bench {

namespace {

// Two units with a latency of four or five cycles.
constexpr int chains = 12, loads = 8;

__attribute__((target("avx2,fma"))) void multiplyAdd256(int64_t rounds) {
  __m256 factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(0.001f), sums[chains];
  for (__m256 &sum : sums)
    sum = factor;
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m256 &sum : sums) {
      sum = _mm256_fmadd_ps(factor, sum, addend);
      asm volatile("" : "+x"(sum));
    }
}

__attribute__((target("avx2,fma"))) void read256(const float *data, int64_t bytes) {
  for (int64_t at = 0; at < bytes / 4; at += 8 * loads)
#pragma clang loop unroll(full)
    for (int i = 0; i < loads; ++i) {
      __m256 value = _mm256_load_ps(data + at + 8 * i);
      asm volatile("" : : "x"(value));
    }
}

__attribute__((target("avx512f"))) void multiplyAdd512(int64_t rounds) {
  __m512 factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(0.001f), sums[chains];
  for (__m512 &sum : sums)
    sum = factor;
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m512 &sum : sums) {
      sum = _mm512_fmadd_ps(factor, sum, addend);
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("avx512f"))) void read512(const float *data, int64_t bytes) {
  for (int64_t at = 0; at < bytes / 4; at += 16 * loads)
#pragma clang loop unroll(full)
    for (int i = 0; i < loads; ++i) {
      __m512 value = _mm512_load_ps(data + at + 16 * i);
      asm volatile("" : : "v"(value));
    }
}

const PeakLoops avx2Loops = {"AVX2", chains * 8 * 2, multiplyAdd256, read256};
const PeakLoops avx512Loops = {"AVX-512", chains * 16 * 2, multiplyAdd512, read512};

}  // namespace

std::vector<const PeakLoops *> availableLoops() {
  std::vector<const PeakLoops *> loops;
  if (detectCpuLevel() >= CpuLevel::X86_64_v3)
    loops.push_back(&avx2Loops);
  if (detectCpuLevel() >= CpuLevel::X86_64_v4)
    loops.push_back(&avx512Loops);
  return loops;
}

}  // namespace talc::bench
#endif
