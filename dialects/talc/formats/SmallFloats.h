// SPDX-License-Identifier: Apache-2.0
// Conversions of floats of 4 and 8 bits. Source: OCP Microscaling Formats (MX) 1.0, section 5.3; OCP 8-bit Floating
// Point, 5.1.
//
//   e2m1   s ee m       0 0.5 1 1.5 2 3 4 6, and their negatives
//   e4m3   s eeee mmm   up to 448; 0x7f and 0xff are NaN
//   e8m0   eeeeeeee     2^(e - 127); 0xff is NaN
#pragma once

#include "dialects/talc/formats/HalfFloats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace talc {

inline float e2m1ToFloat(uint32_t code) {
  constexpr float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}

inline float e4m3ToFloat(uint32_t code) {
  uint32_t exponent = code >> 3 & 15, mantissa = code & 7;
  float magnitude = std::ldexp(static_cast<float>(exponent ? mantissa + 8 : mantissa), std::max(1u, exponent) - 10.0);
  if ((code & 0x7f) == 0x7f)
    magnitude = std::numeric_limits<float>::quiet_NaN();
  return code & 0x80 ? -magnitude : magnitude;
}

inline float e8m0ToFloat(uint32_t code) {
  return code == 0xff ? std::numeric_limits<float>::quiet_NaN() : floatFromBits(std::max(code << 23, 1u << 22));
}

// The nearest value, ties to even; values that are too large become 448.
inline uint8_t floatToE4m3(float value) {
  float magnitude = std::min(std::fabs(value), 448.0f);
  int exponent;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  int step = std::max(exponent, -5) - 4;
  auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));  // at most 16, exact but for this
  uint32_t code = units < 8 ? units : units + (static_cast<uint32_t>(step + 9) << 3);
  return static_cast<uint8_t>(code | (std::signbit(value) ? 0x80 : 0));
}

}  // namespace talc
