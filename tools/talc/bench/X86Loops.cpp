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

// Without products of bytes: neighbours as words, words as sums of 32 bits. The factors change for the compiler, which
// else would take their products out of the loop.
__attribute__((target("avx2"))) void multiplyBytes256(int64_t rounds) {
  __m256i levels = _mm256_set1_epi8(3), x = _mm256_set1_epi8(-5), ones = _mm256_set1_epi16(1), sums[chains] = {};
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m256i &sum : sums) {
      asm volatile("" : "+x"(levels));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(levels, x), ones));
      asm volatile("" : "+x"(sum));
    }
}

__attribute__((target("avx512f,avx512bw"))) void multiplyBytes512(int64_t rounds) {
  __m512i levels = _mm512_set1_epi8(3), x = _mm512_set1_epi8(-5), ones = _mm512_set1_epi16(1), sums[chains] = {};
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m512i &sum : sums) {
      asm volatile("" : "+v"(levels));
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(levels, x), ones));
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("avx2,avxvnni"))) void multiplyBytesVnni256(int64_t rounds) {
  __m256i levels = _mm256_set1_epi8(3), x = _mm256_set1_epi8(-5), sums[chains] = {};
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m256i &sum : sums) {
      sum = _mm256_dpbusd_avx_epi32(sum, levels, x);
      asm volatile("" : "+x"(sum));
    }
}

__attribute__((target("avx512f,avx512vnni"))) void multiplyBytesVnni(int64_t rounds) {
  __m512i levels = _mm512_set1_epi8(3), x = _mm512_set1_epi8(-5), sums[chains] = {};
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m512i &sum : sums) {
      sum = _mm512_dpbusd_epi32(sum, levels, x);
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("avx512f,avx512bf16"))) void multiplyPairs512(int64_t rounds) {
  __m512 one = _mm512_set1_ps(1), sums[chains];
  __m512bh factor = _mm512_cvtne2ps_pbh(one, one);
  for (__m512 &sum : sums)
    sum = one;
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m512 &sum : sums) {
      sum = _mm512_dpbf16_ps(sum, factor, factor);
      asm volatile("" : "+v"(sum));
    }
}

constexpr int64_t ymmBytes = 32, zmmBytes = 64;

// A multiply-add counts as two.
constexpr int64_t countOperations(int64_t vectorBytes, int64_t factorBytes) {
  return chains * 2 * vectorBytes / factorBytes;
}

const std::vector<std::string> integers = {"q8_sums", "q8_256_sums", "q8_k_sums"};

const PeakLoop avx2Loop = {"FMA", {}, "AVX2", countOperations(ymmBytes, 4), multiplyAdd256};
const PeakLoop avx512Loop = {"FMA", {}, "AVX-512", countOperations(zmmBytes, 4), multiplyAdd512};
const PeakLoop avx2Bytes = {"int8", integers, "AVX2", countOperations(ymmBytes, 1), multiplyBytes256};
const PeakLoop avxVnniBytes = {"int8", integers, "AVX-VNNI", countOperations(ymmBytes, 1), multiplyBytesVnni256};
const PeakLoop avx512Bytes = {"int8", integers, "AVX-512", countOperations(zmmBytes, 1), multiplyBytes512};
const PeakLoop vnniBytes = {"int8", integers, "AVX512-VNNI", countOperations(zmmBytes, 1), multiplyBytesVnni};
const PeakLoop avx512Pairs = {"bf16", {"bf16"}, "AVX512-BF16", countOperations(zmmBytes, 2), multiplyPairs512};

}  // namespace

PeakLoops availableLoops() {
  PeakLoops loops;
  auto add = [&](bool there, const PeakLoop &loop) {
    if (there)
      loops.products.push_back(loop);
  };
  CpuLevel level = detectCpuLevel();
  bool avx2 = level >= CpuLevel::X86_64_v3, avx512 = level >= CpuLevel::X86_64_v4;
  add(avx2, avx2Loop);
  add(avx512, avx512Loop);
  add(avx2, avx2Bytes);
  add(avx2 && hasCpuFeature("avxvnni"), avxVnniBytes);
  add(avx512, avx512Bytes);
  add(avx512 && hasCpuFeature("avx512vnni"), vnniBytes);
  add(avx512 && hasCpuFeature("avx512bf16"), avx512Pairs);
  add(avx512 && hasCpuFeature("amx-int8"), amxInt8);
  add(avx512 && hasCpuFeature("amx-bf16"), amxBf16);
  loops.read = avx512 ? read512 : avx2 ? read256 : nullptr;
  return loops;
}

}  // namespace talc::bench
#endif
