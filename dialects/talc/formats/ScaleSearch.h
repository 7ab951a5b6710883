// SPDX-License-Identifier: Apache-2.0
// Searches for the scale of a group of values, with which integers have the least weighted error.
//
// Among several scales that nearly use all levels, each gives every value its nearest level; least squares then fit
// the scale to these levels. The order of operations is llama.cpp's.
#pragma once

#include "dialects/talc/formats/QuantBlocks.h"

namespace talc {

inline float greatestMagnitude(const float *x, int64_t n) {
  float most = 0;
  for (int64_t i = 0; i < n; ++i)
    most = std::fabs(x[i]) > std::fabs(most) ? x[i] : most;
  return most;
}

inline float sumOfSquares(const float *x, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sum;
}

// What errors of values count where columns have an importance: large values more than small ones.
inline void weighValues(const float *x, const float *importance, float meanSquare, int64_t n, float *weights) {
  for (int64_t i = 0; i < n; ++i)
    weights[i] = importance[i] * std::sqrt(meanSquare + x[i] * x[i]);
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

constexpr Search importanceSearch = {-0.9f, 0.05f, 36};

constexpr int64_t groupSize = 32;

class LineSearch {
public:
  LineSearch(const float *x, const float *weights, int most) : x(x), weights(weights), most(most) {
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

  float sumOfWeights() const { return sum; }

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

  const float *x, *weights;
  const int most;
  float low, high, sum, sumOfValues;
};

//===--- levels around zero -------------------------------------------------------------------------------------===//

// x is about step * level, levels from -zero to zero - 1.
inline float findStep(const float *x, const float *weights, int64_t n, int zero, int *levels) {
  float most = greatestMagnitude(x, n);
  std::fill_n(levels, n, -zero);
  if (std::fabs(most) < 1e-15f)
    return 0;
  float step = 0, best = 0;
  std::vector<int> trial(n);
  for (int t : {0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    float perStep = -(static_cast<float>(zero) + 0.1f * static_cast<float>(t)) / most, lx = 0, l2 = 0;
    for (int64_t i = 0; i < n; ++i) {
      trial[i] = nearestIn(perStep * x[i], -zero, zero - 1);
      float level = static_cast<float>(trial[i]);
      lx += weights[i] * x[i] * level;
      l2 += weights[i] * level * level;
    }
    if (t != 0 && !(l2 > 0 && lx * lx > best * l2))
      continue;
    step = l2 != 0 ? lx / l2 : 0;
    best = step * lx;
    std::copy(trial.begin(), trial.end(), levels);
  }
  return step;
}

//===--- levels from zero ---------------------------------------------------------------------------------------===//

// x, none below zero, is about step * level, levels from 0 to `most`: at first one scale for all, then levels one by
// one.
class PositiveSearch {
public:
  PositiveSearch(const float *x, const float *weights, int64_t n, int most)
      : x(x), weights(weights), n(n), most(most) {}

  float run(uint8_t *levels) {
    float greatest = 0;
    for (int64_t i = 0; i < n; ++i)
      greatest = std::max(greatest, x[i]);
    std::fill_n(levels, n, 0);
    if (greatest < 1e-15f)
      return 0;
    float perStep = bestScale(greatest), lx = 0, l2 = 0;
    for (int64_t i = 0; i < n; ++i) {
      levels[i] = static_cast<uint8_t>(nearestIn(perStep * x[i], 0, most));
      lx += weights[i] * x[i] * levels[i];
      l2 += weights[i] * levels[i] * levels[i];
    }
    for (int pass = 0; pass < 5 && improve(levels, lx, l2); ++pass) {
    }
    return l2 > 0 ? lx / l2 : 0;
  }

private:
  float bestScale(float greatest) const {
    float best = 0, least = 0;
    for (int t : {0, -4, -3, -2, -1, 1, 2, 3, 4}) {
      float perStep = (0.1f * static_cast<float>(t) + static_cast<float>(most)) / greatest, error = 0;
      for (int64_t i = 0; i < n; ++i) {
        float difference = x[i] - 1 / perStep * static_cast<float>(nearestIn(perStep * x[i], 0, most));
        error += weights[i] * difference * difference;
      }
      if (t != 0 && !(error < least))
        continue;
      best = perStep;
      least = error;
    }
    return best;
  }

  // Gives values another level where that fits better with a new step; false if none got one.
  bool improve(uint8_t *levels, float &lx, float &l2) const {
    bool changed = false;
    for (int64_t i = 0; i < n; ++i) {
      float level = levels[i], otherX = lx - weights[i] * x[i] * level, other2 = l2 - weights[i] * level * level;
      if (!(otherX > 0 && other2 > 0))
        continue;
      int next = nearestIn(x[i] * other2 / otherX, 0, most);
      if (next == levels[i])
        continue;
      otherX += weights[i] * x[i] * static_cast<float>(next);
      other2 += weights[i] * static_cast<float>(next) * static_cast<float>(next);
      if (!(otherX * otherX * l2 > lx * lx * other2))
        continue;
      levels[i] = static_cast<uint8_t>(next);
      lx = otherX;
      l2 = other2;
      changed = true;
    }
    return changed;
  }

  const float *x, *weights;
  const int64_t n;
  const int most;
};

}  // namespace talc
