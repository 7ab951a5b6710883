// SPDX-License-Identifier: Apache-2.0
// Loops for 64-bit ARM.
#if defined(__aarch64__)
#include "tools/talc/bench/PeakLoops.h"

#include <arm_neon.h>

namespace talc::bench {

namespace {

// Four units with a latency of four cycles (Neoverse V1, Apple's) need as many chains.
constexpr int chains = 16, loads = 16;

void multiplyAdd(int64_t rounds) {
  float32x4_t factor = vdupq_n_f32(0.999f), addend = vdupq_n_f32(0.001f), sums[chains];
  for (float32x4_t &sum : sums)
    sum = addend;
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (float32x4_t &sum : sums) {
      sum = vfmaq_f32(sum, factor, addend);
      asm volatile("" : "+w"(sum));
    }
}

void read(const float *data, int64_t bytes) {
  for (int64_t at = 0; at < bytes / 4; at += 4 * loads)
#pragma clang loop unroll(full)
    for (int i = 0; i < loads; ++i) {
      float32x4_t value = vld1q_f32(data + at + 4 * i);
      asm volatile("" : : "w"(value));
    }
}

const PeakLoop neonLoop = {"FMA", {}, "NEON", chains * 4 * 2, multiplyAdd};

}  // namespace

PeakLoops availableLoops() {
  return {{neonLoop}, read};
}

}  // namespace talc::bench
#endif
