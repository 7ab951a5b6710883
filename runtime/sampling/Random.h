// SPDX-License-Identifier: Apache-2.0
// Pseudorandom numbers that are the same on every machine.
//
// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The state counts up by
// an odd constant, and a number is a mixture of its bits, so that generators from seeds side by side have nothing in
// common.
#pragma once

#include <cstdint>

namespace talc {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

}  // namespace talc
