// SPDX-License-Identifier: Apache-2.0
// Texts as rows of tokens, in an order that a seed decides.
#pragma once

#include "tools/talc/train/Objective.h"

#include <string>
#include <vector>

namespace talc::tools {

class TokenRows {
public:
  // Joins the tokens of all texts and cuts them into rows; what is left at the end is dropped. Returns an error, or an
  // empty text.
  std::string read(const talc_model *model, const std::vector<std::string> &files, int64_t tokensOfRow,
                   std::unique_ptr<Objective> rowObjective);

  int64_t count() const { return static_cast<int64_t>(tokens.size()) / textTokens; }
  int64_t tokenCount() const { return static_cast<int64_t>(tokens.size()); }
  // The row at a position among those of all epochs, each of which has every row once.
  TrainingRow makeRow(int64_t position, uint64_t seed);

private:
  std::unique_ptr<Objective> objective;
  int64_t textTokens = 0;  // of a row
  std::vector<int32_t> tokens;
  int64_t epoch = -1;
  std::vector<int64_t> order;  // of the rows in the epoch
};

}  // namespace talc::tools
