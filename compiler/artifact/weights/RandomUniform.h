// SPDX-License-Identifier: Apache-2.0
// The generator behind #talc.random: element i of a weight depends on the seed and i alone.
#pragma once

#include <cstdint>

namespace talc {

// Uniform in [-sqrt(3), sqrt(3)], so of variance 1: the upper 24 bits of the (index + 1)-th output of SplitMix64
// (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) started with `seed`.
inline float randomUniform(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  double unit = static_cast<double>(z >> 40) * 0x1p-24;  // in [0, 1)
  return static_cast<float>((2 * unit - 1) * 1.7320508075688772);
}

}  // namespace talc
