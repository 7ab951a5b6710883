// SPDX-License-Identifier: Apache-2.0
// Scores of all next tokens of a text: log-probabilities after Hugging Face's logits processors.
#pragma once

#include "runtime/sampling/LogitsProcessors.h"
#include "runtime/sampling/SamplingScratch.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace talc {

// Returns ln sum e^(values[i] - highest), summed in the same order on every machine. NaN and minus infinity are
// ignored; `highest` is finite and none of the values is larger.
double logSumExp(const float *values, size_t count, double highest);

// The log-probabilities by the softmax of a row of logits.
class LogProbabilities {
public:
  LogProbabilities() = default;
  LogProbabilities(const float *logits, size_t count);
  double of(int32_t id) const;

private:
  const float *logits = nullptr;
  double highest = 0, logarithm = 0;
};

// Settings that turn logits into scores.
struct ScoreSettings {
  size_t vocabulary = 0;
  double repetitionPenalty = 1;  // tokens of the text: positive scores are divided by it, negative ones multiplied
  bool renormalize = false;      // the tokens that are left share all the probability
};

// One object serves any number of texts, one after another.
class TokenScores {
public:
  TokenScores(const ScoreSettings &settings, const LogitsProcessors &rules) : settings(settings), rules(rules) {}

  // Makes `scratch` large enough.
  void reserve(SamplingScratch &scratch) const;

  // Scores [vocabulary] of the tokens that may follow `text`, from the model's logits. Impossible tokens have minus
  // infinity or NaN. The result is in `scratch`, which was reserved.
  const double *compute(const float *logits, const UnfinishedText &text, SamplingScratch &scratch) const;

private:
  void penalizeRepetition(const UnfinishedText &text, SamplingScratch &scratch) const;

  const ScoreSettings settings;
  const LogitsProcessors rules;
};

}  // namespace talc
