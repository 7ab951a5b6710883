// SPDX-License-Identifier: Apache-2.0
// Log-softmax, then the logits processors in the order of Hugging Face's generate().
//
// Beam search there applies the processors to log-probabilities, not to logits: a repetition penalty always multiplies,
// and a forced token has the score 0. Source: transformers, generation/utils.py (_beam_search, _get_logits_processor)
// and generation/logits_process.py.
#include "runtime/sampling/TokenScores.h"

#include "runtime/sampling/LikelyTokens.h"
#include "runtime/sampling/Logarithm.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace talc {

// Lanes keep the order of a sum fixed while the CPU works on several values at once.
constexpr size_t lanes = doubleLanes;

// e^x for x in [-700, 0], relative error below 1e-13. Adding 1.5 * 2^52 rounds to an integer, which then stands in the
// low bits.
static Doubles exponentials(Doubles x) {
  constexpr double log2e = 1.4426950408889634074, ln2High = 6.93147180369123816490e-01,
                   ln2Low = 1.90821492927058770002e-10, shift = 0x1.8p52;
  static const double inverseFactorials[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                             1.0 / 720,      1.0 / 120,     1.0 / 24,     1.0 / 6,     0.5};
  Doubles shifted = x * log2e + shift, n = shifted - shift;
  Doubles r = (x - n * ln2High) - n * ln2Low, sum = r * (1.0 / 479001600);
  for (double coefficient : inverseFactorials)
    sum = (sum + coefficient) * r;
  sum = (sum + 1.0) * r + 1.0;
  Integers exponent = (reinterpret_cast<Integers>(shifted) + 1023) << 52;
  return sum * reinterpret_cast<Doubles>(exponent);
}

template <typename T> static Doubles shiftedExponentials(const T *values, double highest) {
  Doubles x;
  for (size_t i = 0; i < lanes; ++i)
    x[i] = values[i];
  x -= highest;
  return x > -700.0 ? exponentials(x > -700.0 ? x : Doubles{}) : Doubles{};  // false for NaN
}

template <typename T> static double sumExponentials(const T *values, size_t count, double highest) {
  Doubles sums = {};
  size_t wholeLanes = count / lanes * lanes;
  for (size_t i = 0; i < wholeLanes; i += lanes)
    sums += shiftedExponentials(values + i, highest);
  T rest[lanes];
  std::fill(rest, rest + lanes, -std::numeric_limits<T>::infinity());
  std::copy(values + wholeLanes, values + count, rest);
  sums += shiftedExponentials(rest, highest);
  double sum = 0;
  for (size_t i = 0; i < lanes; ++i)
    sum += sums[i];
  return sum;
}

double logSumExp(const float *values, size_t count, double highest) {
  return deterministicLog(sumExponentials(values, count, highest));
}

LogProbabilities::LogProbabilities(const float *logits, size_t count)
    : logits(logits), highest(highestValue(logits, count)),
      logarithm(std::isfinite(highest) ? logSumExp(logits, count, highest) : 0) {}

double LogProbabilities::of(int32_t id) const {
  if (std::isfinite(highest))
    return (logits[id] - highest) - logarithm;
  return logits[id] == HUGE_VALF ? 0 : -HUGE_VAL;
}

void TokenScores::reserve(SamplingScratch &scratch) const {
  scratch.scores.resize(settings.vocabulary);
  if (settings.repetitionPenalty != 1)
    scratch.marks.reserve(settings.vocabulary);
}

static void takeLogarithms(const float *logits, std::vector<double> &scores) {
  double highest = highestValue(logits, scores.size());
  if (!std::isfinite(highest)) {  // some tokens are infinitely likely, or all are impossible
    for (size_t id = 0; id < scores.size(); ++id)
      scores[id] = logits[id] == HUGE_VALF ? 0 : -HUGE_VAL;
    return;
  }
  double logarithm = logSumExp(logits, scores.size(), highest);
  for (size_t id = 0; id < scores.size(); ++id)
    scores[id] = (logits[id] - highest) - logarithm;
}

// Renormalizes by another log-softmax.
static void renormalize(std::vector<double> &scores) {
  double highest = -HUGE_VAL;
  for (double score : scores)
    highest = score > highest ? score : highest;
  if (!std::isfinite(highest))  // no token remains
    return;
  double logarithm = deterministicLog(sumExponentials(scores.data(), scores.size(), highest));
  for (double &score : scores)
    score = (score - highest) - logarithm;
}

const double *TokenScores::compute(const float *logits, const UnfinishedText &text, SamplingScratch &scratch) const {
  std::vector<double> &scores = scratch.scores;
  takeLogarithms(logits, scores);
  if (settings.repetitionPenalty != 1)
    penalizeRepetition(text, scratch);
  auto forbid = [&scores](int32_t id) { scores[id] = -HUGE_VAL; };
  rules.forEachUnfit(text, forbid);
  if (int32_t id = rules.forced(text); id >= 0) {
    std::fill(scores.begin(), scores.end(), -HUGE_VAL);
    scores[id] = 0;
  }
  rules.forEachSuppressed(text, forbid);
  if (settings.renormalize)
    renormalize(scores);
  return scores.data();
}

void TokenScores::penalizeRepetition(const UnfinishedText &text, SamplingScratch &scratch) const {
  scratch.marks.clear();
  for (size_t i = 0; i < text.length; ++i) {
    double &score = scratch.scores[text.ids[i]];
    if (scratch.marks.add(text.ids[i]))
      score = score < 0 ? score * settings.repetitionPenalty : score / settings.repetitionPenalty;
  }
}

}  // namespace talc
