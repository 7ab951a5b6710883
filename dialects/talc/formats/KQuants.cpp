// SPDX-License-Identifier: Apache-2.0
// The storage formats q4_k, q5_k and q6_k: 256 integers in groups whose scales are integers, too.
//
//   q4_k, q5_k   d, dm, 12 bytes: 8 scales s and 8 minima m of 6 bits, [256 fifth bits,] 128 bytes   (d * s) * q - dm *
//   m q6_k         128 bytes, 64 bytes of upper bits, 16 scales s of 8 bits, d                       (d * s) * (q - 32)
//
// The scale of each group is searched for (ScaleSearch.h). Then scales are quantized, and codes are chosen once more
// for the quantized scales.
#include "dialects/talc/formats/ScaleSearch.h"

namespace talc {

namespace {

constexpr int64_t count = 256;

constexpr int64_t groups = count / groupSize;

// Scales and minima of 6 bits in 12 bytes: the first four groups have a byte for each, the others four bits in one byte
// and two in another.
struct GroupScales {
  static void get(const uint8_t *bytes, int64_t j, int &scale, int &minimum) {
    if (j < 4) {
      scale = bytes[j] & 63;
      minimum = bytes[j + 4] & 63;
    } else {
      scale = (bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4;
      minimum = bytes[j + 4] >> 4 | bytes[j] >> 6 << 4;
    }
  }

  // Must be called in ascending order of groups.
  static void set(uint8_t *bytes, int64_t j, int scale, int minimum) {
    if (j < 4) {
      bytes[j] = static_cast<uint8_t>(scale);
      bytes[j + 4] = static_cast<uint8_t>(minimum);
    } else {
      bytes[j + 4] = static_cast<uint8_t>((scale & 15) | (minimum & 15) << 4);
      bytes[j - 4] |= static_cast<uint8_t>(scale >> 4 << 6);
      bytes[j] |= static_cast<uint8_t>(minimum >> 4 << 6);
    }
  }
};

// Scales and minima are loaded in words of four groups, so that one mask extracts four of them.
constexpr BlockField affineFields4[] = {{0, 1, 2}, {2, 1, 2}, {4, 3, 4}, {16, 32, 4}},
                     affineFields5[] = {{0, 1, 2}, {2, 1, 2}, {4, 3, 4}, {16, 8, 4}, {48, 32, 4}};

template <int bits> struct ScaleAndMinimum {
  static constexpr int64_t values = count, scales = 4, high = 16, low = bits == 5 ? 48 : 16, bytes = low + count / 2;
  static constexpr int maxCode = (1 << bits) - 1;
  static constexpr llvm::ArrayRef<BlockField> fields =
      bits == 4 ? llvm::ArrayRef<BlockField>(affineFields4) : llvm::ArrayRef<BlockField>(affineFields5);
  static constexpr Search search = bits == 4 ? Search{-1, 0.1f, 20} : Search{-0.5f, 0.1f, 15};

  // Two groups share 32 bytes of low bits, and all groups share 32 bytes of fifth bits.
  static int get(const uint8_t *block, int64_t i) {
    int64_t group = i / groupSize, place = i % groupSize;
    int code = block[low + group / 2 * groupSize + place] >> (group % 2 * 4) & 15;
    return code | (bits == 5 ? (block[high + place] >> group & 1) << 4 : 0);
  }

  static void set(uint8_t *block, int64_t i, int code) {
    int64_t group = i / groupSize, place = i % groupSize;
    block[low + group / 2 * groupSize + place] |= static_cast<uint8_t>((code & 15) << (group % 2 * 4));
    if (bits == 5)
      block[high + place] |= static_cast<uint8_t>((code >> 4) << group);
  }

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block), dm = loadHalf(block + 2);
    for (int64_t group = 0; group < groups; ++group) {
      int scale, minimum;
      GroupScales::get(block + scales, group, scale, minimum);
      float groupScale = d * static_cast<float>(scale), groupMinimum = dm * static_cast<float>(minimum);
      for (int64_t i = group * groupSize; i < (group + 1) * groupSize; ++i)
        x[i] = groupScale * static_cast<float>(get(block, i)) - groupMinimum;
    }
  }

  // Without an importance matrix, large values count more than small ones.
  static bool encode(const float *x, uint8_t *block) {
    uint8_t codes[count];
    float weights[groupSize];
    AffineFit fits[groups];
    AffineFit greatest{0, 0};
    for (int64_t group = 0; group < groups; ++group) {
      const float *first = x + group * groupSize;
      float average = std::sqrt(sumOfSquares(first, groupSize) / groupSize);
      for (int64_t i = 0; i < groupSize; ++i)
        weights[i] = average + std::fabs(first[i]);
      fits[group] = AffineSearch(first, weights, maxCode).run(search, codes + group * groupSize);
      greatest.scale = std::max(greatest.scale, fits[group].scale);
      greatest.minimum = std::max(greatest.minimum, fits[group].minimum);
    }
    bool isStorable = storeScales(fits, greatest, block);
    storeCodes(x, block, codes);
    return isStorable && isFinite(greatest);
  }

  // The scale of the scales is searched for, too; a group counts as much as its values.
  static bool encodeByImportance(const float *x, const float *importance, float, uint8_t *block) {
    uint8_t codes[count], scaleCodes[groups], minimumCodes[groups];
    float weights[groupSize], groupScales[groups], groupMinima[groups], sums[groups];
    float meanSquare = 2 * sumOfSquares(x, count) / count;
    for (int64_t group = 0; group < groups; ++group) {
      int64_t first = group * groupSize;
      weighValues(x + first, importance + first, meanSquare, groupSize, weights);
      AffineSearch affineSearch(x + first, weights, maxCode);
      AffineFit fit = affineSearch.run(importanceSearch, codes + first);
      groupScales[group] = fit.scale;
      groupMinima[group] = fit.minimum;
      sums[group] = affineSearch.sumOfWeights();
    }
    AffineFit unit{UnsignedSearch(groupScales, sums, groups, top).run(scaleCodes),
                   UnsignedSearch(groupMinima, sums, groups, top).run(minimumCodes)};
    for (int64_t group = 0; group < groups; ++group)
      GroupScales::set(block + scales, group, scaleCodes[group], minimumCodes[group]);
    bool fits = storeHalf(unit.scale, block);
    fits &= storeHalf(unit.minimum, block + 2);
    storeCodes(x, block, codes);
    return fits && isFinite(unit);
  }

private:
  static constexpr int top = 63;

  static bool isFinite(const AffineFit &fit) { return std::isfinite(fit.scale) && std::isfinite(fit.minimum); }

  static bool storeScales(const AffineFit *affineFits, const AffineFit &greatest, uint8_t *block) {
    float perScale = greatest.scale > 0 ? top / greatest.scale : 0,
          perMinimum = greatest.minimum > 0 ? top / greatest.minimum : 0;
    // A negative scale wraps around and becomes the greatest one.
    auto rounded = [](float value) { return std::min<int>(top, static_cast<uint8_t>(nearest(value))); };
    for (int64_t group = 0; group < groups; ++group)
      GroupScales::set(block + scales, group, rounded(perScale * affineFits[group].scale),
                       rounded(perMinimum * affineFits[group].minimum));
    bool fits = storeHalf(greatest.scale / top, block);
    return storeHalf(greatest.minimum / top, block + 2) && fits;
  }

  static void storeCodes(const float *x, uint8_t *block, uint8_t *codes) {
    chooseCodes(x, block, codes);
    for (int64_t i = 0; i < count; ++i)
      set(block, i, codes[i]);
  }

  // Groups whose quantized scale is zero keep the codes of the search.
  static void chooseCodes(const float *x, const uint8_t *block, uint8_t *codes) {
    float d = loadHalf(block), dm = loadHalf(block + 2);
    for (int64_t group = 0; group < groups; ++group) {
      int scale, minimum;
      GroupScales::get(block + scales, group, scale, minimum);
      float groupScale = d * static_cast<float>(scale), groupMinimum = dm * static_cast<float>(minimum);
      for (int64_t i = group * groupSize; groupScale != 0 && i < (group + 1) * groupSize; ++i)
        codes[i] = static_cast<uint8_t>(nearestIn((x[i] + groupMinimum) / groupScale, 0, maxCode));
    }
  }
};

//===--- q6_k
//-------------------------------------------------------------------------------------------------------===//

struct Q6_K {
  static constexpr int64_t values = count, bytes = 210, high = 128, scales = 192, half = 208, group = 16;
  static constexpr BlockField fields[] = {{0, 32, 4}, {high, 16, 4}, {scales, 16, 1}, {half, 1, 2}};
  static constexpr int zero = 32;

  // 128 values share 64 bytes of four bits and 32 bytes of two bits.
  static int64_t lowByte(int64_t i) { return i / 128 * 64 + i % 64; }
  static int64_t highByte(int64_t i) { return high + i / 128 * 32 + i % 32; }

  static int get(const uint8_t *block, int64_t i) {
    int64_t quarter = i % 128 / 32;
    return (block[lowByte(i)] >> (quarter / 2 * 4) & 15) | (block[highByte(i)] >> (2 * quarter) & 3) << 4;
  }

  static void set(uint8_t *block, int64_t i, int code) {
    int64_t quarter = i % 128 / 32;
    block[lowByte(i)] |= static_cast<uint8_t>((code & 15) << (quarter / 2 * 4));
    block[highByte(i)] |= static_cast<uint8_t>((code >> 4) << (2 * quarter));
  }

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block + half);
    for (int64_t i = 0; i < count; ++i) {
      float groupScale = d * static_cast<float>(static_cast<int8_t>(block[scales + i / group]));
      x[i] = groupScale * static_cast<float>(get(block, i) - zero);
    }
  }

  // Without an importance matrix, values count by their squares.
  static bool encode(const float *x, uint8_t *block) {
    float squares[count];
    for (int64_t i = 0; i < count; ++i)
      squares[i] = x[i] * x[i];
    return encodeByImportance(x, squares, 0, block);
  }

  static bool encodeByImportance(const float *x, const float *weights, float, uint8_t *block) {
    int codes[count];
    float groupScales[count / group];
    for (int64_t g = 0; g < count / group; ++g)
      groupScales[g] = findScale(x + g * group, weights + g * group, group, zero, codes + g * group);
    if (!std::all_of(groupScales, std::end(groupScales), [](float scale) { return std::isfinite(scale); }))
      return false;
    float greatest = greatestMagnitude(groupScales, count / group);
    if (std::fabs(greatest) < 1e-15f)
      return true;
    float inverseScale = -128 / greatest;
    bool fits = storeHalf(1 / inverseScale, block + half);
    float d = loadHalf(block + half);
    for (int64_t g = 0; g < count / group; ++g) {
      auto scale = static_cast<int8_t>(std::min(127, nearest(inverseScale * groupScales[g])));
      block[scales + g] = static_cast<uint8_t>(scale);
      float groupScale = d * static_cast<float>(scale);
      for (int64_t i = g * group; i < (g + 1) * group; ++i) {
        if (groupScale != 0)
          codes[i] = nearestIn(x[i] / groupScale, -zero, zero - 1);
        set(block, i, codes[i] + zero);
      }
    }
    return fits;
  }
};

}  // namespace

extern const StorageFormat q4_kFormat, q5_kFormat, q6_kFormat;
const StorageFormat q4_kFormat = weighedFormat<ScaleAndMinimum<4>>("q4_k"),
                    q5_kFormat = weighedFormat<ScaleAndMinimum<5>>("q5_k"), q6_kFormat = weighedFormat<Q6_K>("q6_k");

}  // namespace talc
