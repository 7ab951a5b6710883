// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from a row of logits; talc.h documents the settings and their order.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/sampling/LogitsProcessors.h"
#include "runtime/sampling/Random.h"
#include "runtime/sampling/SamplingScratch.h"

#include <memory>
#include <vector>

namespace talc {

class Sampler {
public:
  // `model` must outlive the sampler. `length`: tokens the text has in the end; 0: unknown.
  static Status create(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length,
                       std::unique_ptr<Sampler> &sampler);

  Status accept(const int32_t *ids, int32_t count);
  // Makes `scratch` large enough for this sampler.
  void reserve(SamplingScratch &scratch) const;
  // `logits` has one value per id of the vocabulary. `scratch` is one that was reserved. Allocates nothing.
  Status sample(const float *logits, SamplingScratch &scratch, int32_t &id);

  // The tokens accepted and sampled so far.
  const std::vector<int32_t> &tokens() const { return text; }

private:
  Sampler(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length);
  const float *forbid(const float *logits, const UnfinishedText &text, std::vector<float> &allowed) const;
  Status choose(const float *logits, SamplingScratch &scratch, int32_t &id);
  double penalized(const float *logits, const TokenMarks &marks, int32_t id) const;
  int32_t findBest(const float *logits, const TokenMarks &marks) const;
  int32_t findHighest(const float *logits) const;
  void collect(const float *logits, SamplingScratch &scratch) const;
  int32_t draw(std::vector<Candidate> &candidates);
  int32_t pick(const std::vector<Candidate> &candidates, size_t begin, double mass);
  bool penalizes() const { return settings.repetition_penalty != 1; }

  const Model &model;
  const talc_sampling settings;
  const size_t length;
  LogitsProcessors rules;
  Random random;
  std::vector<int32_t> text;
  size_t beginning = 0;  // tokens of the text before the first that was sampled
  bool samples = false;  // one was
};

}  // namespace talc
