// SPDX-License-Identifier: Apache-2.0
// Searches for the scale of a group of values whose codes have the least weighted error.
//
// Several scales that use nearly all codes are tried: each value gets its nearest code, then least squares fit the
// scale to these codes. The order of operations is that of llama.cpp.
#pragma once

#include "dialects/talc/formats/QuantBlocks.h"

namespace talc {

inline float greatestMagnitude(const float *x, int64_t n) {
  float greatest = 0;
  for (int64_t i = 0; i < n; ++i)
    greatest = std::fabs(x[i]) > std::fabs(greatest) ? x[i] : greatest;
  return greatest;
}

inline bool areFinite(const float *x, int64_t n) {
  return std::all_of(x, x + n, [](float value) { return std::isfinite(value); });
}

inline float sumOfSquares(const float *x, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sum;
}

// Weights of the errors of values whose columns have an importance: large values count more than small ones.
inline void weighValues(const float *x, const float *importance, float meanSquare, int64_t n, float *weights) {
  for (int64_t i = 0; i < n; ++i)
    weights[i] = importance[i] * std::sqrt(meanSquare + x[i] * x[i]);
}

//===--- scale and minimum --------------------------------------------------------------------------------------===//

// x is about scale * code - minimum.
struct AffineFit {
  float scale, minimum;
};

// The scales that are tried, as offsets to the greatest code, and whether errors count by magnitude instead of squares.
struct Search {
  float first, step;
  int steps;
  bool isAbsolute = false;
};

constexpr Search importanceSearch = {-0.9f, 0.05f, 36};

constexpr int64_t groupSize = 32;

class AffineSearch {
public:
  // For `n` values, at most groupSize.
  AffineSearch(const float *x, const float *weights, int maxCode, int64_t n = groupSize)
      : x(x), weights(weights), n(n), maxCode(maxCode) {
    low = high = x[0];
    sum = weights[0];
    sumOfValues = sum * x[0];
    for (int64_t i = 1; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
      sum += weights[i];
      sumOfValues += weights[i] * x[i];
    }
    low = std::min(low, 0.0f);
  }

  float sumOfWeights() const { return sum; }

  AffineFit run(const Search &search, uint8_t *codes) {
    if (low == high) {
      std::fill_n(codes, n, 0);
      return {0, -low};
    }
    float inverseScale = static_cast<float>(maxCode) / (high - low);
    AffineFit best{1 / inverseScale, -low};
    choose(inverseScale, codes);
    float leastError = error(search, best, codes);
    for (int t = 0; t <= search.steps; ++t) {
      uint8_t trial[groupSize];
      choose((search.first + search.step * static_cast<float>(t) + static_cast<float>(maxCode)) / (high - low), trial);
      AffineFit candidate;
      if (!fit(trial, candidate) || !(error(search, candidate, trial) < leastError))
        continue;
      leastError = error(search, candidate, trial);
      best = candidate;
      low = -candidate.minimum;  // later trials start from it
      std::copy_n(trial, n, codes);
    }
    return best;
  }

private:
  void choose(float inverseScale, uint8_t *codes) const {
    for (int64_t i = 0; i < n; ++i)
      codes[i] = static_cast<uint8_t>(nearestIn(inverseScale * (x[i] - low), 0, maxCode));
  }

  // The least-squares fit to these codes; false if they are all equal.
  bool fit(const uint8_t *codes, AffineFit &candidate) const {
    float l1 = 0, l2 = 0, lx = 0;
    for (int64_t i = 0; i < n; ++i) {
      float code = codes[i];
      l1 += weights[i] * code;
      l2 += weights[i] * code * code;
      lx += weights[i] * code * x[i];
    }
    float determinant = sum * l2 - l1 * l1;
    if (!(determinant > 0))
      return false;
    candidate.scale = (sum * lx - sumOfValues * l1) / determinant;
    float offset = (l2 * sumOfValues - l1 * lx) / determinant;
    if (offset > 0) {
      offset = 0;
      candidate.scale = lx / l2;
    }
    candidate.minimum = -offset;
    return true;
  }

  float error(const Search &search, const AffineFit &candidate, const uint8_t *codes) const {
    float result = 0;
    for (int64_t i = 0; i < n; ++i) {
      float difference = candidate.scale * static_cast<float>(codes[i]) + -candidate.minimum - x[i];
      result += weights[i] * (search.isAbsolute ? std::fabs(difference) : difference * difference);
    }
    return result;
  }

  const float *x, *weights;
  const int64_t n;
  const int maxCode;
  float low, high, sum, sumOfValues;
};

//===--- signed codes ---------------------------------------------------------------------------------------------===//

// x is about scale * code, codes from -zero to zero - 1.
inline float findScale(const float *x, const float *weights, int64_t n, int zero, int *codes) {
  float greatest = greatestMagnitude(x, n);
  std::fill_n(codes, n, -zero);
  if (std::fabs(greatest) < 1e-15f)
    return 0;
  float scale = 0, best = 0;
  std::vector<int> trial(n);
  for (int t : {0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    float inverseScale = -(static_cast<float>(zero) + 0.1f * static_cast<float>(t)) / greatest, lx = 0, l2 = 0;
    for (int64_t i = 0; i < n; ++i) {
      trial[i] = nearestIn(inverseScale * x[i], -zero, zero - 1);
      float code = static_cast<float>(trial[i]);
      lx += weights[i] * x[i] * code;
      l2 += weights[i] * code * code;
    }
    if (t != 0 && !(l2 > 0 && lx * lx > best * l2))
      continue;
    scale = l2 != 0 ? lx / l2 : 0;
    best = scale * lx;
    std::copy(trial.begin(), trial.end(), codes);
  }
  return scale;
}

//===--- unsigned codes -------------------------------------------------------------------------------------------===//

// x >= 0 is about scale * code, codes from 0 to `maxCode`. First one scale is chosen for all, then codes are improved
// one by one.
class UnsignedSearch {
public:
  UnsignedSearch(const float *x, const float *weights, int64_t n, int maxCode)
      : x(x), weights(weights), n(n), maxCode(maxCode) {}

  float run(uint8_t *codes) {
    float greatest = 0;
    for (int64_t i = 0; i < n; ++i)
      greatest = std::max(greatest, x[i]);
    std::fill_n(codes, n, 0);
    if (greatest < 1e-15f)
      return 0;
    float inverseScale = bestScale(greatest), lx = 0, l2 = 0;
    for (int64_t i = 0; i < n; ++i) {
      codes[i] = static_cast<uint8_t>(nearestIn(inverseScale * x[i], 0, maxCode));
      lx += weights[i] * x[i] * codes[i];
      l2 += weights[i] * codes[i] * codes[i];
    }
    for (int pass = 0; pass < 5 && improve(codes, lx, l2); ++pass) {
    }
    return l2 > 0 ? lx / l2 : 0;
  }

private:
  float bestScale(float greatest) const {
    float best = 0, leastError = 0;
    for (int t : {0, -4, -3, -2, -1, 1, 2, 3, 4}) {
      float inverseScale = (0.1f * static_cast<float>(t) + static_cast<float>(maxCode)) / greatest, error = 0;
      for (int64_t i = 0; i < n; ++i) {
        float difference = x[i] - 1 / inverseScale * static_cast<float>(nearestIn(inverseScale * x[i], 0, maxCode));
        error += weights[i] * difference * difference;
      }
      if (t != 0 && !(error < leastError))
        continue;
      best = inverseScale;
      leastError = error;
    }
    return best;
  }

  // Changes codes of single values where this fits better with a new scale; false if none changed.
  bool improve(uint8_t *codes, float &lx, float &l2) const {
    bool changed = false;
    for (int64_t i = 0; i < n; ++i) {
      float code = codes[i], otherX = lx - weights[i] * x[i] * code, other2 = l2 - weights[i] * code * code;
      if (!(otherX > 0 && other2 > 0))
        continue;
      int next = nearestIn(x[i] * other2 / otherX, 0, maxCode);
      if (next == codes[i])
        continue;
      otherX += weights[i] * x[i] * static_cast<float>(next);
      other2 += weights[i] * static_cast<float>(next) * static_cast<float>(next);
      if (!(otherX * otherX * l2 > lx * lx * other2))
        continue;
      codes[i] = static_cast<uint8_t>(next);
      lx = otherX;
      l2 = other2;
      changed = true;
    }
    return changed;
  }

  const float *x, *weights;
  const int64_t n;
  const int maxCode;
};

}  // namespace talc
