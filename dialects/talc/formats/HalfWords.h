// SPDX-License-Identifier: Apache-2.0
// Runs of numbers of 16 bits, as the formats f16 and bf16 store them; loops without branches, so that they vectorize.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace talc {

inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <float (*decode)(uint16_t)> void decodeHalfWords(const uint8_t *bytes, int64_t count, int64_t, float *values) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half;  // the bytes may be unaligned
    std::memcpy(&half, bytes + 2 * i, sizeof(half));
    values[i] = decode(half);
  }
}

// `infinity`: its bits.
template <uint16_t (*encode)(float), uint16_t infinity>
bool encodeHalfWords(const float *values, int64_t count, int64_t, uint8_t *bytes) {
  unsigned overflow = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half = encode(values[i]);
    overflow |= (half & 0x7fff) == infinity && std::fabs(values[i]) <= 3.402823466e38f;
    std::memcpy(bytes + 2 * i, &half, sizeof(half));
  }
  return !overflow;
}

}  // namespace talc
