// SPDX-License-Identifier: Apache-2.0
// The storage formats q4_k, q5_k and q6_k: 256 integers in groups whose scales are integers, too.
//
//   q4_k, q5_k   d, dm, 12 bytes: 8 scales s and 8 minima m of 6 bits, [256 fifth bits,] 128 bytes   (d * s) * q - dm *
//   m q6_k         128 bytes, 64 bytes of upper bits, 16 scales s of 8 bits, d                       (d * s) * (q - 32)
//
// A group's scale is searched for: among several that nearly use all levels, the one with the least weighted error of
// the values. Then scales are rounded, and levels chosen once more for the rounded ones.
#include "dialects/talc/formats/Blocks.h"

namespace talc {

namespace {

constexpr int64_t count = 256;

float greatestMagnitude(const float *x, int64_t n) {
  float most = 0;
  for (int64_t i = 0; i < n; ++i)
    most = std::fabs(x[i]) > std::fabs(most) ? x[i] : most;
  return most;
}

//===--- levels from a least value ------------------------------------------------------------------------------===//

// x is about scale * level - least.
struct Line {
  float scale, least;
};

// How the search goes on from the scale that uses all levels.
struct Search {
  float first, step;
  int steps;
};

constexpr int64_t groupSize = 32, groups = count / groupSize;

class LineSearch {
public:
  LineSearch(const float *x, int most) : x(x), most(most) {
    float squares = 0;
    for (int64_t i = 0; i < groupSize; ++i)
      squares += x[i] * x[i];
    float average = std::sqrt(squares / groupSize);
    for (int64_t i = 0; i < groupSize; ++i)
      weights[i] = average + std::fabs(x[i]);
    low = high = x[0];
    sum = weights[0];
    sumOfValues = sum * x[0];
    for (int64_t i = 1; i < groupSize; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
      sum += weights[i];
      sumOfValues += weights[i] * x[i];
    }
    low = std::min(low, 0.0f);
  }

  Line run(const Search &search, uint8_t *levels) {
    if (low == high) {
      std::fill_n(levels, groupSize, 0);
      return {0, -low};
    }
    float perLevel = static_cast<float>(most) / (high - low);
    Line best{1 / perLevel, -low};
    choose(perLevel, levels);
    float least = error(best, levels);
    for (int t = 0; t <= search.steps; ++t) {
      uint8_t trial[groupSize];
      choose((search.first + search.step * static_cast<float>(t) + static_cast<float>(most)) / (high - low), trial);
      Line line;
      if (!fit(trial, line) || !(error(line, trial) < least))
        continue;
      least = error(line, trial);
      best = line;
      low = -line.least;  // trials to come start from it
      std::copy_n(trial, groupSize, levels);
    }
    return best;
  }

private:
  void choose(float perLevel, uint8_t *levels) const {
    for (int64_t i = 0; i < groupSize; ++i)
      levels[i] = static_cast<uint8_t>(nearestIn(perLevel * (x[i] - low), 0, most));
  }

  // The line of least squares through these levels; false if they are all one.
  bool fit(const uint8_t *levels, Line &line) const {
    float l1 = 0, l2 = 0, lx = 0;
    for (int64_t i = 0; i < groupSize; ++i) {
      float level = levels[i];
      l1 += weights[i] * level;
      l2 += weights[i] * level * level;
      lx += weights[i] * level * x[i];
    }
    float determinant = sum * l2 - l1 * l1;
    if (!(determinant > 0))
      return false;
    line.scale = (sum * lx - sumOfValues * l1) / determinant;
    float offset = (l2 * sumOfValues - l1 * lx) / determinant;
    if (offset > 0) {
      offset = 0;
      line.scale = lx / l2;
    }
    line.least = -offset;
    return true;
  }

  float error(const Line &line, const uint8_t *levels) const {
    float result = 0;
    for (int64_t i = 0; i < groupSize; ++i) {
      float difference = line.scale * static_cast<float>(levels[i]) + -line.least - x[i];
      result += weights[i] * (difference * difference);
    }
    return result;
  }

  const float *x;
  const int most;
  float weights[groupSize];
  float low, high, sum, sumOfValues;
};

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

constexpr BlockField lineFields4[] = {{0, 1, 2}, {2, 1, 2}, {4, 12, 1}, {16, 32, 4}},
                     lineFields5[] = {{0, 1, 2}, {2, 1, 2}, {4, 12, 1}, {16, 8, 4}, {48, 32, 4}};

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

  static bool encode(const float *x, uint8_t *block) {
    uint8_t levels[count];
    Line lines[groups];
    Line greatest{0, 0};
    for (int64_t group = 0; group < groups; ++group) {
      lines[group] = LineSearch(x + group * groupSize, most).run(search, levels + group * groupSize);
      greatest.scale = std::max(greatest.scale, lines[group].scale);
      greatest.least = std::max(greatest.least, lines[group].least);
    }
    bool fits = storeScales(lines, greatest, block);
    fits &= std::isfinite(greatest.scale) && std::isfinite(greatest.least);
    chooseLevels(x, block, levels);
    for (int64_t i = 0; i < count; ++i)
      set(block, i, levels[i]);
    return fits;
  }

private:
  static bool storeScales(const Line *lines, const Line &greatest, uint8_t *block) {
    constexpr float top = 63;
    float perScale = greatest.scale > 0 ? top / greatest.scale : 0,
          perLeast = greatest.least > 0 ? top / greatest.least : 0;
    // A scale below zero wraps and becomes the greatest.
    auto rounded = [](float value) { return std::min<int>(63, static_cast<uint8_t>(nearest(value))); };
    for (int64_t group = 0; group < groups; ++group)
      GroupScales::set(block + scales, group, rounded(perScale * lines[group].scale),
                       rounded(perLeast * lines[group].least));
    bool fits = storeHalf(greatest.scale / top, block);
    return storeHalf(greatest.least / top, block + 2) && fits;
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

  static bool encode(const float *x, uint8_t *block) {
    int levels[count];
    float steps[count / group];
    for (int64_t g = 0; g < count / group; ++g)
      steps[g] = findStep(x + g * group, levels + g * group);
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

private:
  // With the square of a value as its weight.
  static float findStep(const float *x, int *levels) {
    float most = greatestMagnitude(x, group);
    std::fill_n(levels, group, -zero);
    if (std::fabs(most) < 1e-15f)
      return 0;
    float step = 0, best = 0;
    for (int t : {0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      float perStep = -(zero + 0.1f * static_cast<float>(t)) / most, lx = 0, l2 = 0;
      int trial[group];
      for (int64_t i = 0; i < group; ++i) {
        trial[i] = nearestIn(perStep * x[i], -zero, zero - 1);
        float weight = x[i] * x[i], level = static_cast<float>(trial[i]);
        lx += weight * x[i] * level;
        l2 += weight * level * level;
      }
      if (t != 0 && !(l2 > 0 && lx * lx > best * l2))
        continue;
      step = l2 != 0 ? lx / l2 : 0;
      best = step * lx;
      std::copy_n(trial, group, levels);
    }
    return step;
  }
};

}  // namespace

extern const StorageFormat q4_kFormat, q5_kFormat, q6_kFormat;
const StorageFormat q4_kFormat = integerFormat<Lines<4>>("q4_k"), q5_kFormat = integerFormat<Lines<5>>("q5_k"),
                    q6_kFormat = integerFormat<Q6_K>("q6_k");

}  // namespace talc
