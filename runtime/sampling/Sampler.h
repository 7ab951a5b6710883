// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from a row of logits; talc.h documents the settings and their order.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/sampling/Random.h"
#include "runtime/sampling/TokenRules.h"

#include <memory>
#include <vector>

namespace talc {

class Sampler {
public:
  // `model` must outlive the sampler. `length`: tokens the text has in the end; 0: unknown.
  static Status create(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length,
                       std::unique_ptr<Sampler> &sampler);

  Status accept(const int32_t *ids, int32_t count);
  // `logits` has one value per id of the vocabulary. Allocates nothing.
  Status sample(const float *logits, int32_t &id);

private:
  struct Candidate {
    double value;  // logit, later the probability times a constant
    int32_t id;
  };

  Sampler(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length);
  static bool lessLikely(const Candidate &a, const Candidate &b);
  void append(int32_t id);
  const float *forbid(const float *logits, const UnfinishedText &text);
  Status choose(const float *logits, int32_t &id);
  double penalized(const float *logits, int32_t id) const;
  int32_t findBest(const float *logits) const;
  int32_t findHighest(const float *logits) const;
  void collect(const float *logits);
  int32_t draw();
  size_t moveLikelyToBack();
  int32_t pick(size_t begin, size_t end, double mass);

  const Model &model;
  const talc_sampling settings;
  const size_t length;
  TokenRules rules;
  Random random;
  std::vector<int32_t> text;
  size_t beginning = 0;           // tokens of the text before the first that was sampled
  bool samples = false;           // one was
  std::vector<uint8_t> accepted;  // [vocabulary], or empty if the penalty is 1
  std::vector<float> allowed;     // logits without forbidden tokens
  std::vector<Candidate> candidates;
};

// Null when all settings are in their documented ranges, else what is wrong.
const char *findWrongSetting(const talc_sampling &settings);

// The model's defaults.
talc_sampling defaultSampling(const artifact::ModelInfo &info);

}  // namespace talc
