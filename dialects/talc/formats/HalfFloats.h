// SPDX-License-Identifier: Apache-2.0
// Conversions of f16 and bf16, and of arrays of them as the storage formats have them; without branches, so that loops
// are vectorized.
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

//===--- IEEE 754 half precision ----------------------------------------------------------------------------------===//

// Shifts the ten bits of the mantissa in place and corrects the exponent's bias by a product with 2^112, which also
// makes subnormal numbers right.
inline float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = uint32_t(half & 0x7fff) << 13;
  uint32_t finite = floatBits(floatFromBits(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7f800000;
  return floatFromBits(sign | ((half & 0x7c00) == 0x7c00 ? special : finite));
}

// Rounds to nearest even; too large values become infinite.
inline uint16_t floatToHalf(float value) {
  constexpr uint32_t smallestNormal = 113u << 23, tooLarge = 143u << 23, infinity = 255u << 23;
  uint32_t bits = floatBits(value), magnitude = bits & 0x7fffffff;
  // The last bit of a mantissa in [0.5, 1) counts 2^-24, as in a subnormal f16: the addition rounds.
  uint32_t subnormal = floatBits(floatFromBits(magnitude) + 0.5f) - floatBits(0.5f);
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  uint32_t result = magnitude < smallestNormal ? subnormal : normal;
  result = magnitude >= tooLarge ? 0x7c00 : result;
  result = magnitude > infinity ? 0x7e00 : result;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000) | result);
}

//===--- the upper half of an f32 ---------------------------------------------------------------------------------===//

inline float bf16ToFloat(uint16_t half) {
  return floatFromBits(uint32_t(half) << 16);
}

// Rounds to nearest even. A NaN stays a NaN.
inline uint16_t floatToBf16(float value) {
  uint32_t bits = floatBits(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

//===--- runs of them -----------------------------------------------------------------------------------------===//

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
