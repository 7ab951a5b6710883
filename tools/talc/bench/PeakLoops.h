// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but multiply and add, or nothing but read.
#pragma once

#include <cstdint>

namespace talc::bench {

// One kind of vector instructions.
struct PeakLoops {
  const char *name;
  int64_t operationsPerRound;
  void (*multiplyAdd)(int64_t rounds);
  // `bytes`: a multiple of readGranularity; `data` is aligned to 64 bytes.
  void (*read)(const float *data, int64_t bytes);
};
constexpr int64_t readGranularity = 512;

// Need AVX2 and FMA, or AVX-512.
extern const PeakLoops avx2Loops, avx512Loops;

}  // namespace talc::bench
