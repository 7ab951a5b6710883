// SPDX-License-Identifier: Apache-2.0
// The storage formats q4_0, q4_1, q5_0, q5_1 and q8_0: 32 codes with a scale, and with a minimum if the name ends in 1.
//
//   q8_0   d, 32 integers of 8 bits          d * q
//   q4_0   d, 16 bytes                       d * (q - 8)     the low halves of bytes are values 0 to 15, the high ones
//   q4_1   d, m, 16 bytes                    d * q + m       16 to 31
//   q5_0   d, 32 fifth bits, 16 bytes        d * (q - 16)
//   q5_1   d, m, 32 fifth bits, 16 bytes     d * q + m
//
// Codes are stored in words of four, as integer dot products take them. If columns have an importance, the scale (and
// the minimum) is searched for.
#include "dialects/talc/formats/ScaleSearch.h"

namespace talc {

namespace {

constexpr int64_t count = 32, half = count / 2;

struct Q8_0 {
  static constexpr int64_t values = count, bytes = 34;
  static constexpr BlockField fields[] = {{0, 1, 2}, {2, count / 4, 4}};

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block);
    for (int64_t i = 0; i < count; ++i)
      x[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * d;
  }

  static bool encode(const float *x, uint8_t *block) {
    float maximum = 0;
    for (int64_t i = 0; i < count; ++i)
      maximum = std::max(maximum, std::fabs(x[i]));
    float d = maximum / 127, id = inverse(d);
    for (int64_t i = 0; i < count; ++i)
      block[2 + i] = static_cast<uint8_t>(static_cast<int>(std::round(x[i] * id)));
    return storeHalf(d, block);
  }
};

// Codes of `bits` bits: `header` bytes of scales, then the fifth bits, then nibbles.
template <int bits> struct Nibbles {
  static constexpr int codeCount = 1 << bits;
  static constexpr int64_t highBytes = bits == 5 ? 4 : 0;

  static int get(const uint8_t *block, int64_t header, int64_t i) {
    int low = block[header + highBytes + i % half] >> (i < half ? 0 : 4) & 15;
    return low | (bits == 5 ? (block[header + i / 8] >> i % 8 & 1) << 4 : 0);
  }

  // The bytes of the block must be zero.
  static void set(uint8_t *block, int64_t header, int64_t i, int code) {
    block[header + highBytes + i % half] |= static_cast<uint8_t>((code & 15) << (i < half ? 0 : 4));
    if (bits == 5)
      block[header + i / 8] |= static_cast<uint8_t>((code >> 4) << i % 8);
  }
};

constexpr BlockField centredFields4[] = {{0, 1, 2}, {2, half / 4, 4}},
                     centredFields5[] = {{0, 1, 2}, {2, 1, 4}, {6, half / 4, 4}};
constexpr BlockField shiftedFields4[] = {{0, 1, 2}, {2, 1, 2}, {4, half / 4, 4}},
                     shiftedFields5[] = {{0, 1, 2}, {2, 1, 2}, {4, 1, 4}, {8, half / 4, 4}};

// The value of greatest magnitude gets the code 0.
template <int bits> struct Centred {
  using Codes = Nibbles<bits>;
  static constexpr int64_t values = count, header = 2, bytes = header + Codes::highBytes + half;
  static constexpr llvm::ArrayRef<BlockField> fields =
      bits == 4 ? llvm::ArrayRef<BlockField>(centredFields4) : llvm::ArrayRef<BlockField>(centredFields5);

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block);
    for (int64_t i = 0; i < count; ++i)
      x[i] = static_cast<float>(Codes::get(block, header, i) - Codes::codeCount / 2) * d;
  }

  static bool encode(const float *x, uint8_t *block) {
    float extreme = 0;
    for (int64_t i = 0; i < count; ++i)
      extreme = std::fabs(x[i]) > std::fabs(extreme) ? x[i] : extreme;
    constexpr float zero = Codes::codeCount / 2;
    float d = extreme / -zero, id = d != 0 ? 1 / d : 0;
    for (int64_t i = 0; i < count; ++i) {
      float place = x[i] * id + (zero + 0.5f);
      // A block whose scale has no inverse counts as zero; it gets zeros, as in llama.cpp on x86.
      Codes::set(block, header, i, std::isfinite(place) ? std::min(Codes::codeCount - 1, static_cast<int>(place)) : 0);
    }
    return storeHalf(d, block);
  }

  static bool encodeByImportance(const float *x, const float *importance, float meanSquare, uint8_t *block) {
    float weights[count];
    int codes[count];
    weighValues(x, importance, meanSquare, count, weights);
    float d = findScale(x, weights, count, Codes::codeCount / 2, codes);
    for (int64_t i = 0; i < count; ++i)
      Codes::set(block, header, i, codes[i] + Codes::codeCount / 2);
    return storeHalf(d, block);
  }
};

// Codes cover the range from the least value to the greatest.
template <int bits> struct Shifted {
  using Codes = Nibbles<bits>;
  static constexpr int64_t values = count, header = 4, bytes = header + Codes::highBytes + half;
  static constexpr llvm::ArrayRef<BlockField> fields =
      bits == 4 ? llvm::ArrayRef<BlockField>(shiftedFields4) : llvm::ArrayRef<BlockField>(shiftedFields5);

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block), m = loadHalf(block + 2);
    for (int64_t i = 0; i < count; ++i)
      x[i] = static_cast<float>(Codes::get(block, header, i)) * d + m;
  }

  static bool encode(const float *x, uint8_t *block) {
    auto [least, most] = std::minmax_element(x, x + count);
    float m = *least, d = (*most - m) / (Codes::codeCount - 1), id = inverse(d);
    if (!std::isfinite(d))
      return false;
    for (int64_t i = 0; i < count; ++i)
      Codes::set(block, header, i, std::min(Codes::codeCount - 1, static_cast<int>((x[i] - m) * id + 0.5f)));
    bool fits = storeHalf(d, block);
    return storeHalf(m, block + 2) && fits;
  }

  static bool encodeByImportance(const float *x, const float *importance, float meanSquare, uint8_t *block) {
    float weights[count];
    uint8_t codes[count];
    weighValues(x, importance, meanSquare, count, weights);
    AffineFit line = AffineSearch(x, weights, Codes::codeCount - 1).run(importanceSearch, codes);
    for (int64_t i = 0; i < count; ++i)
      Codes::set(block, header, i, codes[i]);
    bool fits = storeHalf(line.scale, block);
    return storeHalf(-line.minimum, block + 2) && fits;
  }
};

}  // namespace

extern const StorageFormat q8_0Format, q4_0Format, q4_1Format, q5_0Format, q5_1Format;
const StorageFormat q8_0Format = integerFormat<Q8_0>("q8_0"), q4_0Format = weighedFormat<Centred<4>>("q4_0"),
                    q4_1Format = weighedFormat<Shifted<4>>("q4_1"), q5_0Format = weighedFormat<Centred<5>>("q5_0"),
                    q5_1Format = weighedFormat<Shifted<5>>("q5_1");

}  // namespace talc
