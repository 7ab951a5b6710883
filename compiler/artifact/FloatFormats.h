// SPDX-License-Identifier: Apache-2.0
// Conversion between f32 and the 16-bit formats that weights are stored in; free of branches, so that loops vectorize.
#pragma once

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

inline float decodeBf16(uint16_t half) {
  return floatFromBits(uint32_t(half) << 16);
}

// Rounds to nearest even. A NaN stays a NaN.
inline uint16_t encodeBf16(float value) {
  uint32_t bits = floatBits(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

// Shifts the ten bits of the mantissa in place and corrects the exponent's bias by a product with 2^112, which also
// makes subnormal numbers right.
inline float decodeF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = uint32_t(half & 0x7fff) << 13;
  uint32_t finite = floatBits(floatFromBits(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7f800000;
  return floatFromBits(sign | ((half & 0x7c00) == 0x7c00 ? special : finite));
}

// Rounds to nearest even; too large values become infinite.
inline uint16_t encodeF16(float value) {
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

}  // namespace talc
