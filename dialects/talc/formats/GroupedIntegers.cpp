// SPDX-License-Identifier: Apache-2.0
// The storage formats intB_N_TYPE and intBz_N_TYPE: groups of N integers of B bits.
//
//   int4    scale s, N / 2 bytes           TYPE(s * (q - 8))   16 of 32 values in the low halves of 16 bytes
//   int4z   scale s, zero point z, N / 2 bytes   TYPE(s * (q - z))
//   int8    scale s, N bytes               TYPE(s * q)         in two's complement
//   int8z   scale s, zero point z, N bytes       TYPE(s * (q - z))   unsigned
//
// Scales are of TYPE, and so are values: products are rounded once, as checkpoints mean them. If columns have an
// importance, the greatest values may be clipped: several scales are tried, and the one with the least weighted error
// is taken.
#include "dialects/talc/formats/Rounding.h"

namespace talc {

namespace {

// Codes of four bits are stored in words of four bytes.
template <int bits> constexpr int64_t wordOf = bits == 4 ? 4 : 1;
template <int bits, int64_t count> constexpr int64_t wordsOf = count *bits / 8 / wordOf<bits>;
template <int bits, int64_t count, bool zeros>
constexpr BlockField groupFields[] = {{0, 1, 2}, {2, 1, 1}, {3, wordsOf<bits, count>, wordOf<bits>}};
template <int bits, int64_t count>
constexpr BlockField groupFields<bits, count, false>[] = {{0, 1, 2}, {2, wordsOf<bits, count>, wordOf<bits>}};

template <int bits, int64_t count, bool zeros, typename Type> struct Group {
  static constexpr int64_t values = count, scaleValues = count, codes = zeros ? 3 : 2, bytes = codes + count * bits / 8;
  static constexpr llvm::ArrayRef<BlockField> fields = groupFields<bits, count, zeros>;
  static constexpr int middle = 1 << (bits - 1), maxCode = 2 * middle - 1;

  // Unsigned codes.
  static int get(const uint8_t *block, int64_t i) {
    if (bits == 4)
      return block[codes + i / 32 * 16 + i % 16] >> (i / 16 % 2 * 4) & 15;
    return zeros ? block[codes + i] : static_cast<int8_t>(block[codes + i]) + middle;
  }

  // The bytes of the block must be zero.
  static void set(uint8_t *block, int64_t i, int code) {
    if (bits == 4)
      block[codes + i / 32 * 16 + i % 16] |= static_cast<uint8_t>((code & 15) << (i / 16 % 2 * 4));
    else
      block[codes + i] = static_cast<uint8_t>(zeros ? code : code - middle);
  }

  static void decode(const uint8_t *block, float *x) {
    float scale = Type::decode(loadWord<uint16_t>(block));
    int zero = zeros ? block[2] : middle;
    for (int64_t i = 0; i < count; ++i)
      x[i] = Type::round(static_cast<float>(get(block, i) - zero) * scale);
  }

  static bool encode(const float *x, uint8_t *block) { return encode(x, 1, block); }

  // Codes cover the range from the least value, or zero, to the greatest, or a symmetric range; `share` clips it.
  static bool encode(const float *x, float share, uint8_t *block) {
    auto [low, high] = std::minmax_element(x, x + count);
    float lowest = share * std::min(*low, 0.0f), highest = share * std::max(*high, 0.0f);
    float range = zeros ? highest - lowest : 2 * std::max(highest, -lowest);
    uint16_t word = Type::encode(range / maxCode);
    float scale = Type::decode(word), id = inverse(scale);
    int zero = zeros ? nearestIn(-lowest * id, 0, maxCode) : middle;
    storeWord(word, block);
    if (zeros)
      block[2] = static_cast<uint8_t>(zero);
    for (int64_t i = 0; i < count; ++i)
      set(block, i, nearestIn(x[i] * id + static_cast<float>(zero), 0, maxCode));
    return std::isfinite(Type::round(scale * static_cast<float>(std::max(zero, zeros ? maxCode - zero : 0))));
  }

  // The codes of a checkpoint may be shifted by any number, together with their zero point.
  static void assemble(const BlockParts &parts, uint8_t *block) {
    std::fill_n(block, bytes, 0);
    storeWord(static_cast<uint16_t>(parts.scaleCodes[0]), block);
    int shift = zeros ? 0 : middle - parts.zeroPoint;
    if (zeros)
      block[2] = static_cast<uint8_t>(parts.zeroPoint);
    for (int64_t i = 0; i < count; ++i)
      set(block, i, parts.codes[i] + shift);
  }
};

// Encodes groups with several degrees of clipping.
template <typename Group> struct ClippingSearch : Group {
  static bool encodeByImportance(const float *x, const float *importance, float, uint8_t *block) {
    double best = HUGE_VAL;
    for (int step = 0; step <= 10; ++step) {
      uint8_t trial[Group::bytes] = {};
      float decoded[Group::values];
      if (!Group::encode(x, 1 - 0.04f * static_cast<float>(step), trial))
        return false;
      Group::decode(trial, decoded);
      double error = 0;
      for (int64_t i = 0; i < Group::values; ++i) {
        double difference = static_cast<double>(decoded[i]) - x[i];
        error += importance[i] * (difference * difference);
      }
      if (error < best)
        std::copy_n(trial, Group::bytes, block);
      best = std::min(best, error);
    }
    return true;
  }
};

template <int bits, int64_t count, bool zeros, typename Type>
constexpr StorageFormat group(std::string_view name, bool listed = false) {
  StorageFormat format = assembledFormat<Group<bits, count, zeros, Type>>(name, listed);
  format.encodeByImportance = encodeByImportance<ClippingSearch<Group<bits, count, zeros, Type>>>;
  return format;
}

constexpr StorageFormat formats[] = {
    group<8, 128, false, RoundToBf16>("int8_128_bf16", true), group<8, 64, false, RoundToBf16>("int8_64_bf16"),
    group<8, 32, false, RoundToBf16>("int8_32_bf16"),         group<8, 128, false, RoundToF16>("int8_128_f16"),
    group<8, 64, false, RoundToF16>("int8_64_f16"),           group<8, 32, false, RoundToF16>("int8_32_f16"),
    group<8, 128, true, RoundToBf16>("int8z_128_bf16", true), group<8, 64, true, RoundToBf16>("int8z_64_bf16"),
    group<8, 32, true, RoundToBf16>("int8z_32_bf16"),         group<8, 128, true, RoundToF16>("int8z_128_f16"),
    group<8, 64, true, RoundToF16>("int8z_64_f16"),           group<8, 32, true, RoundToF16>("int8z_32_f16"),
    group<4, 128, false, RoundToBf16>("int4_128_bf16", true), group<4, 64, false, RoundToBf16>("int4_64_bf16"),
    group<4, 32, false, RoundToBf16>("int4_32_bf16"),         group<4, 128, false, RoundToF16>("int4_128_f16"),
    group<4, 64, false, RoundToF16>("int4_64_f16"),           group<4, 32, false, RoundToF16>("int4_32_f16"),
    group<4, 128, true, RoundToBf16>("int4z_128_bf16", true), group<4, 64, true, RoundToBf16>("int4z_64_bf16"),
    group<4, 32, true, RoundToBf16>("int4z_32_bf16"),         group<4, 128, true, RoundToF16>("int4z_128_f16"),
    group<4, 64, true, RoundToF16>("int4z_64_f16"),           group<4, 32, true, RoundToF16>("int4z_32_f16")};

}  // namespace

extern const llvm::ArrayRef<StorageFormat> groupedIntegerFormats;
const llvm::ArrayRef<StorageFormat> groupedIntegerFormats = formats;

}  // namespace talc
