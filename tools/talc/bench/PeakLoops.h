// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but multiply and add, or nothing but read: X86Loops.cpp, NeonLoops.cpp. There are as many
// independent chains as cover the latency of all units, and empty asm statements keep every value alive.
#pragma once

#include <cstdint>
#include <vector>

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

// Of the vector instructions that this processor has, by width; none on x86-64 without AVX2 and FMA.
std::vector<const PeakLoops *> availableLoops();

}  // namespace talc::bench
