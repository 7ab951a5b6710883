// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from a row of logits; talc.h documents the settings and their order.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/sampling/LogitsProcessors.h"
#include "runtime/sampling/Random.h"
#include "runtime/sampling/SamplingScratch.h"
#include "runtime/sampling/TextPenalties.h"

#include <memory>
#include <vector>

namespace talc {

class Sampler {
public:
  // `model` must outlive the sampler. `length`: tokens of the text when it is complete; 0: unknown.
  static Status create(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length,
                       std::unique_ptr<Sampler> &sampler);

  Status accept(const int32_t *ids, int32_t count);
  // As talc_sampler_bias and talc_sampler_allow; `reserve` is to be called again.
  Status setBiases(const talc_logit_bias *given, int32_t count);
  Status allow(const uint32_t *bits, int32_t words);
  // Makes `scratch` large enough for this sampler.
  void reserve(SamplingScratch &scratch) const;
  // `logits` has one value per id of the vocabulary. `scratch` is one that was reserved. Allocates nothing.
  Status sample(const float *logits, SamplingScratch &scratch, int32_t &id);

  // The tokens accepted and sampled so far.
  const std::vector<int32_t> &tokens() const { return text; }

private:
  Sampler(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length);
  const float *edit(const float *logits, const UnfinishedText &text, std::vector<float> &allowed) const;
  Status choose(const float *logits, SamplingScratch &scratch, int32_t &id);
  const std::vector<IdRange> &choosableRanges(SamplingScratch &scratch) const;
  int32_t findBest(const float *logits, const std::vector<IdRange> &ranges, const SamplingScratch &scratch) const;
  const float *setTextApart(const float *logits, const std::vector<IdRange> &ranges, SamplingScratch &scratch) const;
  void collect(const float *logits, const std::vector<IdRange> &ranges, SamplingScratch &scratch) const;
  void takeExponentials(std::vector<Candidate> &candidates, double highest) const;
  int32_t draw(std::vector<Candidate> &candidates);
  int32_t pick(const std::vector<Candidate> &candidates, size_t begin, double mass);
  bool editsLogits() const { return rules.forbidsAny() || !biases.empty(); }

  const Model &model;
  const talc_sampling settings;
  const size_t length;
  LogitsProcessors rules;
  const TextPenalties penalties;
  std::vector<talc_logit_bias> biases;
  const uint32_t *mask = nullptr;  // [vocabulary / 32], tokens that may be chosen; null: all
  Random random;
  std::vector<int32_t> text;
  size_t beginning = 0;  // tokens of the text before the first that was sampled
  bool samples = false;  // whether a token was sampled
};

}  // namespace talc
