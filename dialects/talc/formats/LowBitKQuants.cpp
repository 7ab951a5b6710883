// SPDX-License-Identifier: Apache-2.0
// The storage formats q2_k and q3_k: 256 integers of two or three bits in groups of 16 whose scales are integers, too.
//
//   q2_k   16 bytes: scales s and minima m of 4 bits, 64 bytes, d, dm                       (d * s) * q - dm * m
//   q3_k   32 bytes of third bits, 64 bytes, 12 bytes: 16 scales s of 6 bits, d             d * (s - 32) * (q - 4)
//
// 128 values share 32 bytes of two bits each. As in KQuants.cpp, the scale of each group is searched for, then codes
// are chosen once more for quantized scales.
#include "dialects/talc/formats/ScaleSearch.h"

namespace talc {

namespace {

constexpr int64_t count = 256, group = 16, groups = count / group;

// Two bits of each value, from `bytes` on.
struct LowBits {
  static int64_t byte(int64_t i) { return i / 128 * 32 + i % 32; }
  static int shift(int64_t i) { return static_cast<int>(i % 128 / 32 * 2); }
  static int get(const uint8_t *bytes, int64_t i) { return bytes[byte(i)] >> shift(i) & 3; }
  static void set(uint8_t *bytes, int64_t i, int code) { bytes[byte(i)] |= static_cast<uint8_t>(code << shift(i)); }
};

//===--- q2_k -----------------------------------------------------------------------------------------------------===//

struct Q2_K {
  static constexpr int64_t values = count, bytes = 84, low = 16, half = 80;
  static constexpr BlockField fields[] = {{0, groups, 1}, {low, 16, 4}, {half, 1, 2}, {half + 2, 1, 2}};
  static constexpr int maxCode = 3, top = 15;

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block + half), dm = loadHalf(block + half + 2);
    for (int64_t i = 0; i < count; ++i) {
      int scales = block[i / group];
      float scale = d * static_cast<float>(scales & 15), minimum = dm * static_cast<float>(scales >> 4);
      x[i] = scale * static_cast<float>(LowBits::get(block + low, i)) - minimum;
    }
  }

  // Without an importance matrix, values and errors count by their magnitude.
  static bool encode(const float *x, uint8_t *block) {
    constexpr Search search = {-0.5f, 0.1f, 15, /*isAbsolute=*/true};
    uint8_t codes[count];
    float weights[group], groupScales[groups], groupMinima[groups];
    for (int64_t g = 0; g < groups; ++g) {
      const float *first = x + g * group;
      std::transform(first, first + group, weights, [](float value) { return std::fabs(value); });
      AffineFit fit = AffineSearch(first, weights, maxCode, group).run(search, codes + g * group);
      groupScales[g] = fit.scale;
      groupMinima[g] = fit.minimum;
    }
    if (!areFinite(groupScales, groups) || !areFinite(groupMinima, groups))
      return false;
    uint8_t scaleCodes[groups], minimumCodes[groups];
    AffineFit unit{roundToGreatest(groupScales, scaleCodes), roundToGreatest(groupMinima, minimumCodes)};
    return store(x, unit, scaleCodes, minimumCodes, codes, block);
  }

  // The scale of the scales is searched for, too; a group counts as much as its values.
  static bool encodeByImportance(const float *x, const float *importance, float, uint8_t *block) {
    uint8_t codes[count], scaleCodes[groups], minimumCodes[groups];
    float weights[group], groupScales[groups], groupMinima[groups], sums[groups];
    float meanSquare = sumOfSquares(x, count) / count;
    for (int64_t g = 0; g < groups; ++g) {
      int64_t first = g * group;
      weighValues(x + first, importance + first, meanSquare, group, weights);
      AffineSearch affineSearch(x + first, weights, maxCode, group);
      AffineFit fit = affineSearch.run(importanceSearch, codes + first);
      groupScales[g] = fit.scale;
      groupMinima[g] = fit.minimum;
      sums[g] = affineSearch.sumOfWeights();
    }
    if (!areFinite(groupScales, groups) || !areFinite(groupMinima, groups))
      return false;
    AffineFit unit{UnsignedSearch(groupScales, sums, groups, top).run(scaleCodes),
                   UnsignedSearch(groupMinima, sums, groups, top).run(minimumCodes)};
    return store(x, unit, scaleCodes, minimumCodes, codes, block);
  }

private:
  // Quantizes such that the greatest number gets the greatest code. Returns the scale.
  static float roundToGreatest(const float *numbers, uint8_t *codes) {
    float greatest = std::max(0.0f, *std::max_element(numbers, numbers + groups));
    float inverseScale = greatest > 0 ? top / greatest : 0;
    for (int64_t g = 0; g < groups; ++g)
      codes[g] = static_cast<uint8_t>(nearestIn(inverseScale * numbers[g], 0, top));
    return greatest / top;
  }

  // Groups whose quantized scale is zero keep the codes of the search.
  static bool store(const float *x, const AffineFit &unit, const uint8_t *scaleCodes, const uint8_t *minimumCodes,
                    const uint8_t *codes, uint8_t *block) {
    bool fits = storeHalf(unit.scale, block + half);
    fits &= storeHalf(unit.minimum, block + half + 2);
    float d = loadHalf(block + half), dm = loadHalf(block + half + 2);
    for (int64_t i = 0; i < count; ++i) {
      int64_t g = i / group;
      block[g] = static_cast<uint8_t>(scaleCodes[g] | minimumCodes[g] << 4);
      float scale = d * static_cast<float>(scaleCodes[g]), minimum = dm * static_cast<float>(minimumCodes[g]);
      LowBits::set(block + low, i, scale != 0 ? nearestIn((x[i] + minimum) / scale, 0, maxCode) : codes[i]);
    }
    return fits && std::isfinite(unit.scale) && std::isfinite(unit.minimum);
  }
};

//===--- q3_k -----------------------------------------------------------------------------------------------------===//

// x is about scale * code, codes from -zero to zero - 1: all values get the codes of one scale, then codes are improved
// one by one. Values count by their squares.
class SignedSearch {
public:
  SignedSearch(const float *x, int zero) : x(x), zero(zero) {}

  float run(int *codes) {
    float greatest = greatestMagnitude(x, group);
    std::fill_n(codes, group, -zero);
    if (std::fabs(greatest) < 1e-15f)
      return 0;
    float inverseScale = static_cast<float>(-zero) / greatest;
    for (int64_t i = 0; i < group; ++i) {
      codes[i] = nearestIn(inverseScale * x[i], -zero, zero - 1);
      add(i, codes[i], xc, cc);
    }
    for (int pass = 0; pass < 5 && improve(codes); ++pass) {
    }
    return cc > 0 ? xc / cc : 0;
  }

private:
  // Adds to the weighted sums of x * code and code * code.
  void add(int64_t i, int code, float &xc, float &cc) const {
    float weight = x[i] * x[i], value = static_cast<float>(code);
    xc += weight * x[i] * value;
    cc += weight * value * value;
  }

  // False if no code changed.
  bool improve(int *codes) {
    bool changed = false;
    for (int64_t i = 0; i < group; ++i) {
      float weight = x[i] * x[i], code = static_cast<float>(codes[i]);
      float otherX = xc - weight * x[i] * code, otherC = cc - weight * code * code;
      if (!(otherX > 0))
        continue;
      int next = nearestIn(x[i] * otherC / otherX, -zero, zero - 1);
      if (next == codes[i])
        continue;
      add(i, next, otherX, otherC);
      if (!(otherC > 0 && otherX * otherX * cc > xc * xc * otherC))
        continue;
      codes[i] = next;
      xc = otherX;
      cc = otherC;
      changed = true;
    }
    return changed;
  }

  const float *x;
  const int zero;
  float xc = 0, cc = 0;
};

struct Q3_K {
  static constexpr int64_t values = count, bytes = 110, low = 32, scales = 96, half = 108;
  static constexpr BlockField fields[] = {{0, 8, 4}, {low, 16, 4}, {scales, 3, 4}, {half, 1, 2}};
  static constexpr int zero = 4, zeroScale = 32;

  // The lower four bits are the halves of eight bytes, the upper two the quarters of four.
  static int getScale(const uint8_t *block, int64_t g) {
    int lower = block[scales + g % 8] >> (g / 8 * 4) & 15, upper = block[scales + 8 + g % 4] >> (g / 4 * 2) & 3;
    return (lower | upper << 4) - zeroScale;
  }

  static void setScale(uint8_t *block, int64_t g, int scale) {
    int code = scale + zeroScale;
    block[scales + g % 8] |= static_cast<uint8_t>((code & 15) << (g / 8 * 4));
    block[scales + 8 + g % 4] |= static_cast<uint8_t>((code >> 4) << (g / 4 * 2));
  }

  static int get(const uint8_t *block, int64_t i) {
    return LowBits::get(block + low, i) | (block[i % 32] >> (i / 32) & 1) << 2;
  }

  static void set(uint8_t *block, int64_t i, int code) {
    LowBits::set(block + low, i, code & 3);
    block[i % 32] |= static_cast<uint8_t>((code >> 2) << (i / 32));
  }

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block + half);
    for (int64_t i = 0; i < count; ++i)
      x[i] = d * static_cast<float>(getScale(block, i / group)) * static_cast<float>(get(block, i) - zero);
  }

  static bool encode(const float *x, uint8_t *block) {
    int codes[count];
    float groupScales[groups];
    for (int64_t g = 0; g < groups; ++g)
      groupScales[g] = SignedSearch(x + g * group, zero).run(codes + g * group);
    if (!areFinite(groupScales, groups))
      return false;
    float greatest = greatestMagnitude(groupScales, groups);
    float inverseScale = greatest != 0 ? static_cast<float>(-zeroScale) / greatest : 0;
    int scaleCodes[groups];
    for (int64_t g = 0; g < groups; ++g)
      scaleCodes[g] = greatest != 0 ? nearestIn(inverseScale * groupScales[g], -zeroScale, zeroScale - 1) : -zeroScale;
    return store(x, inverse(inverseScale), scaleCodes, codes, block);
  }

  // The scale of the scales is searched for, too; a group counts as much as its values.
  static bool encodeByImportance(const float *x, const float *importance, float, uint8_t *block) {
    int codes[count], scaleCodes[groups];
    float weights[group], groupScales[groups], sums[groups];
    float meanSquare = 2 * sumOfSquares(x, count) / count;
    for (int64_t g = 0; g < groups; ++g) {
      int64_t first = g * group;
      weighValues(x + first, importance + first, meanSquare, group, weights);
      sums[g] = 0;
      for (float weight : weights)
        sums[g] += weight;
      groupScales[g] = findScale(x + first, weights, group, zero, codes + first);
    }
    if (!areFinite(groupScales, groups))
      return false;
    float d = findScale(groupScales, sums, groups, zeroScale, scaleCodes);
    return store(x, d, scaleCodes, codes, block) && std::isfinite(d);
  }

private:
  // Groups whose quantized scale is zero keep the codes of the search.
  static bool store(const float *x, float unit, const int *scaleCodes, int *codes, uint8_t *block) {
    bool fits = storeHalf(unit, block + half);
    float d = loadHalf(block + half);
    for (int64_t g = 0; g < groups; ++g) {
      setScale(block, g, scaleCodes[g]);
      float scale = d * static_cast<float>(scaleCodes[g]);
      for (int64_t i = g * group; i < (g + 1) * group; ++i)
        set(block, i, (scale != 0 ? nearestIn(x[i] / scale, -zero, zero - 1) : codes[i]) + zero);
    }
    return fits;
  }
};

}  // namespace

extern const StorageFormat q2_kFormat, q3_kFormat;
// Kernels dequantize q2_k: it has minima of 16 values, and quantized activations have sums of 32.
const StorageFormat q2_kFormat = onlyByName(weighedBlockFormat<Q2_K>("q2_k")),
                    q3_kFormat = onlyByName(weighedFormat<Q3_K>("q3_k"));

}  // namespace talc
