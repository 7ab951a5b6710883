// SPDX-License-Identifier: Apache-2.0
// An objective decides which tokens of a row a model is to predict.
#pragma once

#include "runtime/sampling/Random.h"
#include "runtime/talc.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace talc::tools {

struct TrainingRow {
  std::vector<int32_t> ids, labels;  // of each token; a negative label: none
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
