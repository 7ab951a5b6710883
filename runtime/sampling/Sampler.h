// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from a row of logits; talc.h documents the settings and their order.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/sampling/LogitsProcessors.h"
#include "runtime/sampling/SamplingScratch.h"

#include <memory>
#include <vector>

namespace talc {

// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  uint64_t state;
};

class Sampler {
public:
  // `model` must outlive the sampler. `length`: tokens of the text when it is complete; 0: unknown.
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
  const float *setTextApart(const float *logits, SamplingScratch &scratch) const;
  void collect(const float *logits, SamplingScratch &scratch) const;
  void takeExponentials(std::vector<Candidate> &candidates, double highest) const;
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
  bool samples = false;  // whether a token was sampled
};

}  // namespace talc
