// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most with a number of threads, measured: multiply-adds, and reading from every cache
// level and from memory. Method: Williams, Waterman, Patterson 2009, "Roofline".
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace talc::bench {

struct MemoryLevel {
  std::string name;           // L1, L2, L3, memory
  double capacity;            // bytes that all threads together hold there; infinite for memory
  double bytesPerSecond = 0;  // all threads reading
};

struct MachineProfile {
  int32_t threads = 0;
  std::string processor;            // as the system calls it
  std::string instructions;         // AVX2 or AVX-512: with which the most operations were reached
  double operationsPerSecond = 0;   // f32, a multiply-add counts as two
  std::vector<MemoryLevel> levels;  // ascending; the last is memory

  // The first level that holds so many bytes.
  const MemoryLevel &levelOf(double bytes) const;
  const MemoryLevel &memory() const { return levels.back(); }
};

// Takes about a second. Fails without AVX2 and FMA, and when threads or memory are refused.
Status measureMachine(int32_t threads, MachineProfile &profile);

}  // namespace talc::bench
