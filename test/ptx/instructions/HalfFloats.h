// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 as the bits of registers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace talc::ptx {

inline float bitsToFloat(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t floatToBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Both know their values as floats, and round a double once, to the nearest, ties to even.
struct F16 {
  static float value(uint16_t bits) {
    _Float16 half;
    memcpy(&half, &bits, sizeof(half));
    return static_cast<float>(half);
  }
  static uint16_t round(double value) {
    auto half = static_cast<_Float16>(value);
    uint16_t bits;
    memcpy(&bits, &half, sizeof(bits));
    return std::isnan(value) ? 0x7fff : bits;
  }
  static uint16_t round(float value) {
    auto half = static_cast<_Float16>(value);
    uint16_t bits;
    memcpy(&bits, &half, sizeof(bits));
    return std::isnan(value) ? 0x7fff : bits;
  }
};

struct Bf16 {
  static float value(uint16_t bits) { return bitsToFloat(static_cast<uint32_t>(bits) << 16); }
  static uint16_t round(float value) {
    uint32_t bits = floatToBits(value);
    return std::isnan(value) ? 0x7fff : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  static uint16_t round(double value) {
    auto nearest = static_cast<float>(value);
    // Rounding to odd first: the lost bits decide ties of the second rounding.
    if (static_cast<double>(nearest) != value && !std::isnan(value) && !std::isinf(nearest)) {
      bool above = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
      nearest = bitsToFloat((above ? floatToBits(nearest) - 1 : floatToBits(nearest)) | 1);
    }
    return round(nearest);
  }
};

}  // namespace talc::ptx
