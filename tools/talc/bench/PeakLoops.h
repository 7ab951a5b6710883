// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but multiply and add, or nothing but read: AmxLoops.cpp, X86Loops.cpp, NeonLoops.cpp. There are
// as many independent chains as cover the latency of all units, and empty asm statements keep every value alive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::bench {

// Multiply-adds with one kind of vector instructions.
struct PeakLoop {
  const char *roof;                  // FMA, int8 or bf16: the roof that it measures
  std::vector<std::string> rounded;  // formats of quantized activations; empty: f32, not quantized
  const char *instructions;
  int64_t operationsPerRound;
  void (*run)(int64_t rounds);
};

struct PeakLoops {
  std::vector<PeakLoop> products;  // f32 comes first; the fastest of a roof counts
  // Reads with the widest vectors. `bytes` is a multiple of readGranularity; `data` is aligned to 64 bytes.
  void (*read)(const float *data, int64_t bytes) = nullptr;
};
constexpr int64_t readGranularity = 512;

// Returns the loops for the vector instructions of this CPU; none on x86-64 without AVX2 and FMA.
PeakLoops availableLoops();

extern const PeakLoop amxBf16, amxInt8;

}  // namespace talc::bench
