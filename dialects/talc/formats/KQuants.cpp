// SPDX-License-Identifier: Apache-2.0
// The storage formats q4_k, q5_k and q6_k: 256 integers in groups whose scales are integers, too.
//
//   q4_k, q5_k   d, dm, 12 bytes: 8 scales s and 8 minima m of 6 bits, [256 fifth bits,] 128 bytes   (d * s) * q - dm *
//   m q6_k         128 bytes, 64 bytes of upper bits, 16 scales s of 8 bits, d                       (d * s) * (q - 32)
//
// A group's scale is searched for (ScaleSearch.h). Then scales are rounded, and levels chosen once more for the rounded
// ones.
#include "dialects/talc/formats/ScaleSearch.h"

namespace talc {

namespace {

constexpr int64_t count = 256;

constexpr int64_t groups = count / groupSize;

// Scales and minima of 6 bits in 12 bytes: of the first four groups a byte each, of the others four bits here and two
// there.
struct GroupScales {
  static void get(const uint8_t *bytes, int64_t j, int &scale, int &least) {
    if (j < 4) {
      scale = bytes[j] & 63;
      least = bytes[j + 4] & 63;
    } else {
      scale = (bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4;
      least = bytes[j + 4] >> 4 | bytes[j] >> 6 << 4;
    }
  }

  // In ascending order of groups.
  static void set(uint8_t *bytes, int64_t j, int scale, int least) {
    if (j < 4) {
      bytes[j] = static_cast<uint8_t>(scale);
      bytes[j + 4] = static_cast<uint8_t>(least);
    } else {
      bytes[j + 4] = static_cast<uint8_t>((scale & 15) | (least & 15) << 4);
      bytes[j - 4] |= static_cast<uint8_t>(scale >> 4 << 6);
      bytes[j] |= static_cast<uint8_t>(least >> 4 << 6);
    }
  }
};

// Scales and minima in words of four groups, of which one mask takes four numbers.
constexpr BlockField lineFields4[] = {{0, 1, 2}, {2, 1, 2}, {4, 3, 4}, {16, 32, 4}},
                     lineFields5[] = {{0, 1, 2}, {2, 1, 2}, {4, 3, 4}, {16, 8, 4}, {48, 32, 4}};

template <int bits> struct Lines {
  static constexpr int64_t values = count, scales = 4, high = 16, low = bits == 5 ? 48 : 16, bytes = low + count / 2;
  static constexpr int most = (1 << bits) - 1;
  static constexpr llvm::ArrayRef<BlockField> fields =
      bits == 4 ? llvm::ArrayRef<BlockField>(lineFields4) : llvm::ArrayRef<BlockField>(lineFields5);
  static constexpr Search search = bits == 4 ? Search{-1, 0.1f, 20} : Search{-0.5f, 0.1f, 15};

  // Two groups share 32 bytes, and all share 32 bytes of fifth bits.
  static int get(const uint8_t *block, int64_t i) {
    int64_t group = i / groupSize, place = i % groupSize;
    int level = block[low + group / 2 * groupSize + place] >> (group % 2 * 4) & 15;
    return level | (bits == 5 ? (block[high + place] >> group & 1) << 4 : 0);
  }

  static void set(uint8_t *block, int64_t i, int level) {
    int64_t group = i / groupSize, place = i % groupSize;
    block[low + group / 2 * groupSize + place] |= static_cast<uint8_t>((level & 15) << (group % 2 * 4));
    if (bits == 5)
      block[high + place] |= static_cast<uint8_t>((level >> 4) << group);
  }

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block), dm = loadHalf(block + 2);
    for (int64_t group = 0; group < groups; ++group) {
      int scale, least;
      GroupScales::get(block + scales, group, scale, least);
      float step = d * static_cast<float>(scale), offset = dm * static_cast<float>(least);
      for (int64_t i = group * groupSize; i < (group + 1) * groupSize; ++i)
        x[i] = step * static_cast<float>(get(block, i)) - offset;
    }
  }

  // Without importance large values count more than small ones.
  static bool encode(const float *x, uint8_t *block) {
    uint8_t levels[count];
    float weights[groupSize];
    Line lines[groups];
    Line greatest{0, 0};
    for (int64_t group = 0; group < groups; ++group) {
      const float *first = x + group * groupSize;
      float average = std::sqrt(sumOfSquares(first, groupSize) / groupSize);
      for (int64_t i = 0; i < groupSize; ++i)
        weights[i] = average + std::fabs(first[i]);
      lines[group] = LineSearch(first, weights, most).run(search, levels + group * groupSize);
      greatest.scale = std::max(greatest.scale, lines[group].scale);
      greatest.least = std::max(greatest.least, lines[group].least);
    }
    bool fits = storeScales(lines, greatest, block);
    storeLevels(x, block, levels);
    return fits && isFinite(greatest);
  }

  // The scales of groups are searched for, too; a group counts as much as its values.
  static bool encodeByImportance(const float *x, const float *importance, float, uint8_t *block) {
    uint8_t levels[count], scaleLevels[groups], leastLevels[groups];
    float weights[groupSize], steps[groups], leasts[groups], sums[groups];
    float meanSquare = 2 * sumOfSquares(x, count) / count;
    for (int64_t group = 0; group < groups; ++group) {
      int64_t first = group * groupSize;
      weighValues(x + first, importance + first, meanSquare, groupSize, weights);
      LineSearch lines(x + first, weights, most);
      Line line = lines.run(importanceSearch, levels + first);
      steps[group] = line.scale;
      leasts[group] = line.least;
      sums[group] = lines.sumOfWeights();
    }
    Line unit{PositiveSearch(steps, sums, groups, top).run(scaleLevels),
              PositiveSearch(leasts, sums, groups, top).run(leastLevels)};
    for (int64_t group = 0; group < groups; ++group)
      GroupScales::set(block + scales, group, scaleLevels[group], leastLevels[group]);
    bool fits = storeHalf(unit.scale, block);
    fits &= storeHalf(unit.least, block + 2);
    storeLevels(x, block, levels);
    return fits && isFinite(unit);
  }

private:
  static constexpr int top = 63;

  static bool isFinite(const Line &line) { return std::isfinite(line.scale) && std::isfinite(line.least); }

  static bool storeScales(const Line *lines, const Line &greatest, uint8_t *block) {
    float perScale = greatest.scale > 0 ? top / greatest.scale : 0,
          perLeast = greatest.least > 0 ? top / greatest.least : 0;
    // A scale below zero wraps and becomes the greatest.
    auto rounded = [](float value) { return std::min<int>(top, static_cast<uint8_t>(nearest(value))); };
    for (int64_t group = 0; group < groups; ++group)
      GroupScales::set(block + scales, group, rounded(perScale * lines[group].scale),
                       rounded(perLeast * lines[group].least));
    bool fits = storeHalf(greatest.scale / top, block);
    return storeHalf(greatest.least / top, block + 2) && fits;
  }

  static void storeLevels(const float *x, uint8_t *block, uint8_t *levels) {
    chooseLevels(x, block, levels);
    for (int64_t i = 0; i < count; ++i)
      set(block, i, levels[i]);
  }

  // Groups whose scale has become zero keep the levels of the search.
  static void chooseLevels(const float *x, const uint8_t *block, uint8_t *levels) {
    float d = loadHalf(block), dm = loadHalf(block + 2);
    for (int64_t group = 0; group < groups; ++group) {
      int scale, least;
      GroupScales::get(block + scales, group, scale, least);
      float step = d * static_cast<float>(scale), offset = dm * static_cast<float>(least);
      for (int64_t i = group * groupSize; step != 0 && i < (group + 1) * groupSize; ++i)
        levels[i] = static_cast<uint8_t>(nearestIn((x[i] + offset) / step, 0, most));
    }
  }
};

//===--- levels around zero -------------------------------------------------------------------------------------===//

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

  static void set(uint8_t *block, int64_t i, int level) {
    int64_t quarter = i % 128 / 32;
    block[lowByte(i)] |= static_cast<uint8_t>((level & 15) << (quarter / 2 * 4));
    block[highByte(i)] |= static_cast<uint8_t>((level >> 4) << (2 * quarter));
  }

  static void decode(const uint8_t *block, float *x) {
    float d = loadHalf(block + half);
    for (int64_t i = 0; i < count; ++i) {
      float step = d * static_cast<float>(static_cast<int8_t>(block[scales + i / group]));
      x[i] = step * static_cast<float>(get(block, i) - zero);
    }
  }

  // Without importance values count by their squares.
  static bool encode(const float *x, uint8_t *block) {
    float squares[count];
    for (int64_t i = 0; i < count; ++i)
      squares[i] = x[i] * x[i];
    return encodeByImportance(x, squares, 0, block);
  }

  static bool encodeByImportance(const float *x, const float *weights, float, uint8_t *block) {
    int levels[count];
    float steps[count / group];
    for (int64_t g = 0; g < count / group; ++g)
      steps[g] = findStep(x + g * group, weights + g * group, group, zero, levels + g * group);
    if (!std::all_of(steps, std::end(steps), [](float step) { return std::isfinite(step); }))
      return false;
    float greatest = greatestMagnitude(steps, count / group);
    if (std::fabs(greatest) < 1e-15f)
      return true;
    float perStep = -128 / greatest;
    bool fits = storeHalf(1 / perStep, block + half);
    float d = loadHalf(block + half);
    for (int64_t g = 0; g < count / group; ++g) {
      auto scale = static_cast<int8_t>(std::min(127, nearest(perStep * steps[g])));
      block[scales + g] = static_cast<uint8_t>(scale);
      float step = d * static_cast<float>(scale);
      for (int64_t i = g * group; i < (g + 1) * group; ++i) {
        if (step != 0)
          levels[i] = nearestIn(x[i] / step, -zero, zero - 1);
        set(block, i, levels[i] + zero);
      }
    }
    return fits;
  }
};

}  // namespace

extern const StorageFormat q4_kFormat, q5_kFormat, q6_kFormat;
const StorageFormat q4_kFormat = weighedFormat<Lines<4>>("q4_k"), q5_kFormat = weighedFormat<Lines<5>>("q5_k"),
                    q6_kFormat = weighedFormat<Q6_K>("q6_k");

}  // namespace talc
