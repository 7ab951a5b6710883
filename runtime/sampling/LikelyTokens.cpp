// SPDX-License-Identifier: Apache-2.0
// A bound from the maxima of blocks, then the few blocks that reach it.
//
//   logits    [ ..64.. | ..64.. | ..64.. | ..64.. ]
//   maxima        3.1      7.4      0.2      6.8        count = 2: the bound is 6.8
//   looked at             ------            ------
//
// At least `count` blocks have a maximum that reaches the bound, so at least as many logits do, and none of the `count`
// largest is below it.
#include "runtime/sampling/LikelyTokens.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace talc {

constexpr int32_t blockSize = 64;

// Computes several maxima side by side. A comparison with NaN is false.
float highestValue(const float *values, size_t count) {
  constexpr size_t lanes = 16;
  typedef float Floats __attribute__((vector_size(lanes * sizeof(float))));
  Floats highest = Floats{} - HUGE_VALF, next;
  size_t wholeLanes = count / lanes * lanes;
  for (size_t i = 0; i < wholeLanes; i += lanes) {
    memcpy(&next, values + i, sizeof(next));
    highest = next > highest ? next : highest;
  }
  float result = -HUGE_VALF;
  for (size_t lane = 0; lane < lanes; ++lane)
    result = std::max(result, highest[lane]);
  for (size_t i = wholeLanes; i < count; ++i)
    result = values[i] > result ? values[i] : result;
  return result;
}

// Calls visit(begin, end) for the ids of every block.
template <typename Visit> static void forEachBlock(const std::vector<IdRange> &ranges, Visit visit) {
  for (const IdRange &ids : ranges)
    for (int32_t begin = ids.begin; begin < ids.end; begin += blockSize)
      visit(begin, std::min(begin + blockSize, ids.end));
}

// Finds the value first, then its place.
int32_t likeliestToken(const float *logits, const std::vector<IdRange> &ranges) {
  float best = -HUGE_VALF;
  IdRange where = {};
  forEachBlock(ranges, [&](int32_t begin, int32_t end) {
    if (float highest = highestValue(logits + begin, end - begin); highest > best) {
      best = highest;
      where = {begin, end};
    }
  });
  if (best == -HUGE_VALF)
    return -1;
  return static_cast<int32_t>(std::find(logits + where.begin, logits + where.end, best) - logits);
}

void reserveForLikeliest(size_t tokens, size_t ranges, SamplingScratch &scratch) {
  scratch.candidates.reserve(tokens);
  scratch.blockMaxima.reserve(tokens / blockSize + ranges);
  scratch.rankedMaxima.reserve(tokens / blockSize + ranges);
}

void appendLikeliest(const float *logits, const std::vector<IdRange> &ranges, size_t count, SamplingScratch &scratch) {
  std::vector<float> &maxima = scratch.blockMaxima, &ranked = scratch.rankedMaxima;
  maxima.clear();
  forEachBlock(ranges,
               [&](int32_t begin, int32_t end) { maxima.push_back(highestValue(logits + begin, end - begin)); });
  float bound = -HUGE_VALF;
  if (count < maxima.size()) {
    ranked.assign(maxima.begin(), maxima.end());
    auto last = ranked.begin() + static_cast<ptrdiff_t>(count) - 1;
    std::nth_element(ranked.begin(), last, ranked.end(), std::greater<>());
    bound = *last;
  }
  size_t block = 0;
  forEachBlock(ranges, [&](int32_t begin, int32_t end) {
    if (float highest = maxima[block++]; highest < bound || highest == -HUGE_VALF)
      return;
    for (int32_t id = begin; id < end; ++id)
      if (float logit = logits[id]; logit >= bound && logit > -HUGE_VALF)
        scratch.candidates.push_back({logit, id});
  });
}

}  // namespace talc
