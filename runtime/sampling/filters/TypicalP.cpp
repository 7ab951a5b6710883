// SPDX-License-Identifier: Apache-2.0
// Keeps the fewest tokens whose information is closest to the entropy and whose probabilities reach p.
//
//   information   - ln p    0.1 | 0.9  1.7  2.2 | 3.0  6.1      likeliest tokens first
//   expected      entropy            1.6
//
// The tokens form a range of ranks, which grows from the entropy to the closer side.
//
// Source: Meister, Pimentel, Wiher, Cotterell: Locally typical sampling, 2023.
#include "runtime/sampling/Logarithm.h"
#include "runtime/sampling/filters/Filter.h"

#include <cfloat>

namespace talc {

namespace {

class TypicalRun {
public:
  explicit TypicalRun(SortedCandidates &candidates) : candidates(candidates), mass(candidates.mass()) {
    for (size_t rank = 0; rank < candidates.size(); ++rank)
      expected += probability(rank) * information(rank);
    while (end < candidates.size() && information(end) < expected)
      ++end;
    begin = end;
  }

  void growTo(double enough) {
    double reached = 0;
    while (reached < enough && (begin > 0 || end < candidates.size()))
      reached += probability(isUpperCloser() ? --begin : end++);
  }

  bool holds(size_t rank) const { return rank >= begin && rank < end; }

private:
  double probability(size_t rank) { return candidates[rank].value / mass; }
  double information(size_t rank) { return -deterministicLog(std::max(probability(rank), DBL_MIN)); }
  bool isUpperCloser() {
    if (begin == 0 || end == candidates.size())
      return begin > 0;
    return expected - information(begin - 1) < information(end) - expected;
  }

  SortedCandidates &candidates;
  const double mass;
  double expected = 0;
  size_t begin = 0, end = 0;
};

}  // namespace

const Filter typicalPFilter = {
    [](const talc_sampling &settings) { return settings.typical_p > 0 && settings.typical_p < 1; },
    [](const talc_sampling &settings, SortedCandidates &candidates) {
      TypicalRun run(candidates);
      run.growTo(settings.typical_p);
      candidates.keepIf([&](size_t rank) { return run.holds(rank); });
    }};

}  // namespace talc
