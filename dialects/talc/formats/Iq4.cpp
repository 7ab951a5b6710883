// SPDX-License-Identifier: Apache-2.0
// The storage formats iq4_nl and iq4_xs: 4-bit codes that stand for values of a table T, which is dense around zero.
//
//   iq4_nl   d, 16 bytes of 32 codes                                          d * T[q]
//   iq4_xs   d, 8 scales s of 6 bits, 128 bytes of 8 groups of 32 codes       d * (s - 32) * T[q]
//
// The low halves of a group's bytes are its values 0 to 15. The lower four bits of scales come after their upper two.
#include "dialects/talc/formats/Iq4Values.h"
#include "dialects/talc/formats/ScaleSearch.h"

#include <algorithm>

namespace talc {

namespace {

constexpr int codeCount = 16;

// The code of the nearest value; of two equally near ones the greater.
int nearestCode(float x) {
  int above = 0;
  while (above < codeCount && static_cast<float>(iq4Values[above]) <= x)
    ++above;
  if (above == 0 || above == codeCount)
    return std::max(above - 1, 0);
  auto distance = [&](int code) { return std::fabs(x - static_cast<float>(iq4Values[code])); };
  return distance(above - 1) < distance(above) ? above - 1 : above;
}

// x is about scale * value of its code.
class TableSearch {
public:
  TableSearch(const float *x, const float *weights) : x(x), weights(weights) {}

  float run() const {
    constexpr int steps = 7;
    float greatest = greatestMagnitude(x, groupSize);
    if (std::fabs(greatest) < 1e-15f)
      return 0;
    Sums first = sums(inverse(-greatest / static_cast<float>(iq4Values[0])));
    float scale = first.vv != 0 ? first.xv / first.vv : 0, best = scale * first.xv;  // 0: no column counts
    for (int t = -steps; t <= steps; ++t) {
      Sums trial = sums(static_cast<float>(t + iq4Values[0]) / greatest);
      if (!(trial.vv > 0 && trial.xv * trial.xv > best * trial.vv))
        continue;
      scale = trial.xv / trial.vv;
      best = scale * trial.xv;
    }
    return scale;
  }

private:
  // Weighted sums of x * v and v * v, where v is the value of x's code.
  struct Sums {
    float xv, vv;
  };

  Sums sums(float inverseScale) const {
    Sums result{0, 0};
    for (int64_t i = 0; i < groupSize; ++i) {
      float value = iq4Values[nearestCode(inverseScale * x[i])];
      result.xv += weights[i] * value * x[i];
      result.vv += weights[i] * value * value;
    }
    return result;
  }

  const float *x, *weights;
};

// 16 bytes of 32 codes.
struct Codes {
  static int get(const uint8_t *bytes, int64_t i) { return bytes[i % 16] >> (i < 16 ? 0 : 4) & 15; }
  static void set(uint8_t *bytes, int64_t i, int code) {
    bytes[i % 16] |= static_cast<uint8_t>(code << (i < 16 ? 0 : 4));
  }
};

void decodeGroup(const uint8_t *bytes, float scale, float *x) {
  for (int64_t i = 0; i < groupSize; ++i)
    x[i] = scale * static_cast<float>(iq4Values[Codes::get(bytes, i)]);
}

void encodeGroup(const float *x, float scale, uint8_t *bytes) {
  float inverseScale = inverse(scale);
  for (int64_t i = 0; i < groupSize; ++i)
    Codes::set(bytes, i, nearestCode(inverseScale * x[i]));
}

// Encodes a block of a format by the weights of its values' errors.
template <typename Block> struct WeighedEncoder {
  // Without an importance matrix, values count by their squares.
  static bool encode(const float *x, uint8_t *block) {
    float weights[Block::values];
    std::transform(x, x + Block::values, weights, [](float value) { return value * value; });
    return Block::encodeWith(x, weights, block);
  }

  static bool encodeByImportance(const float *x, const float *importance, float, uint8_t *block) {
    constexpr int64_t n = Block::values;
    float weights[n];
    weighValues(x, importance, sumOfSquares(x, n) * (2.0f / n), n, weights);
    return Block::encodeWith(x, weights, block);
  }
};

struct Iq4Nl : WeighedEncoder<Iq4Nl> {
  static constexpr int64_t values = groupSize, bytes = 18, codes = 2;
  static constexpr BlockField fields[] = {{0, 1, 2}, {codes, 4, 4}};

  static void decode(const uint8_t *block, float *x) { decodeGroup(block + codes, loadHalf(block), x); }

  static bool encodeWith(const float *x, const float *weights, uint8_t *block) {
    float scale = TableSearch(x, weights).run();
    encodeGroup(x, scale, block + codes);
    return storeHalf(scale, block);
  }
};

struct Iq4Xs : WeighedEncoder<Iq4Xs> {
  static constexpr int64_t values = 256, groups = values / groupSize, bytes = 136, high = 2, low = 4, codes = 8;
  static constexpr BlockField fields[] = {{0, 1, 2}, {high, 2, 1}, {low, 4, 1}, {codes, 32, 4}};
  static constexpr int zero = 32;

  static int getScale(const uint8_t *block, int64_t group) {
    int lower = block[low + group / 2] >> (group % 2 * 4) & 15, upper = block[high + group / 4] >> (group % 4 * 2) & 3;
    return (lower | upper << 4) - zero;
  }

  static void setScale(uint8_t *block, int64_t group, int scale) {
    int code = scale + zero;
    block[low + group / 2] |= static_cast<uint8_t>((code & 15) << (group % 2 * 4));
    block[high + group / 4] |= static_cast<uint8_t>((code >> 4) << (group % 4 * 2));
  }

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block);
    for (int64_t group = 0; group < groups; ++group)
      decodeGroup(block + codes + group * 16, d * static_cast<float>(getScale(block, group)), x + group * groupSize);
  }

  // Codes are chosen for the scale of scales before it is rounded to f16.
  static bool encodeWith(const float *x, const float *weights, uint8_t *block) {
    float groupScales[groups];
    for (int64_t group = 0; group < groups; ++group)
      groupScales[group] = TableSearch(x + group * groupSize, weights + group * groupSize).run();
    if (!areFinite(groupScales, groups))
      return false;
    float d = -greatestMagnitude(groupScales, groups) / zero, inverseScale = inverse(d);
    for (int64_t group = 0; group < groups; ++group) {
      int scale = nearestIn(inverseScale * groupScales[group], -zero, zero - 1);
      setScale(block, group, scale);
      encodeGroup(x + group * groupSize, d * static_cast<float>(scale), block + codes + group * 16);
    }
    return storeHalf(d, block);
  }
};

}  // namespace

extern const StorageFormat iq4_nlFormat, iq4_xsFormat;
// Kernels dequantize iq4_xs: its values have eight bits and a sign, for which kernels of k-quants have no room.
const StorageFormat iq4_nlFormat = onlyByName(weighedFormat<Iq4Nl>("iq4_nl")),
                    iq4_xsFormat = onlyByName(weighedBlockFormat<Iq4Xs>("iq4_xs"));

}  // namespace talc
