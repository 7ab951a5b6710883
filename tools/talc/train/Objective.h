// SPDX-License-Identifier: Apache-2.0
// An objective decides which tokens of a row a model is to predict.
#pragma once

#include "runtime/talc.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace talc::tools {

struct TrainingRow {
  std::vector<int32_t> ids, labels;  // of each token; a negative label: none
};

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), whose numbers are the same
// everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)

private:
  uint64_t state;
};

class Objective {
public:
  virtual ~Objective() = default;
  // The tokens around those of a text, such as [CLS] and [SEP], which a row has as well.
  virtual int64_t addedTokens() const = 0;
  // Makes a row of `count` tokens of a text.
  virtual TrainingRow makeRow(const int32_t *tokens, int64_t count, Random random) const = 0;
};

// Every token is to be predicted from those before it.
std::unique_ptr<Objective> causalObjective();

// The model is to predict 15 % of the tokens, in whose place it sees a mask (80 %), any token (10 %) or the token
// itself: BERT (arXiv 1810.04805). Returns null, and an error in `problem`, for a model without a mask token.
std::unique_ptr<Objective> maskedObjective(const talc_model *model, std::string &problem);

}  // namespace talc::tools
