// SPDX-License-Identifier: Apache-2.0
// The float types that values code * scale are rounded to, and in which such scales are stored.
#pragma once

#include "dialects/talc/formats/QuantBlocks.h"

namespace talc {

struct RoundToF16 {
  static float round(float value) { return halfToFloat(floatToHalf(value)); }
  static uint16_t encode(float value) { return floatToHalf(value); }
  static float decode(uint16_t word) { return halfToFloat(word); }
};

// Products from 2^110 on count as infinite: kernels round by adding numbers that are 2^16 times as large.
struct RoundToBf16 {
  static float round(float value) {
    return std::fabs(value) >= 0x1p110f ? std::copysign(HUGE_VALF, value) : bf16ToFloat(floatToBf16(value));
  }
  static uint16_t encode(float value) { return floatToBf16(value); }
  static float decode(uint16_t word) { return bf16ToFloat(word); }
};

template <typename Word> Word loadWord(const uint8_t *bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

template <typename Word> void storeWord(Word word, uint8_t *bytes) {
  std::memcpy(bytes, &word, sizeof(word));
}

}  // namespace talc
