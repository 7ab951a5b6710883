// SPDX-License-Identifier: Apache-2.0
// Log-probabilities of candidates: which rows of a step's outputs they need, and what follows from these.
//
// Where logits have parts (LogitParts), a row needs its head, and the tails of those clusters that have a candidate;
// else the whole row of logits.
#pragma once

#include "runtime/artifact/LogitParts.h"
#include "runtime/session/Batch.h"

#include <functional>
#include <vector>

namespace talc {

// Vectors keep their capacity from step to step.
class CandidateScores {
public:
  explicit CandidateScores(const Model &model) : model(model), parts(model.info()) {}

  // Fails for what is wrong with the candidates, and for models without logits.
  Status plan(const talc_sequence *sequences, const talc_candidates *candidates, int32_t count);
  // For each sequence the rows that are wanted.
  const Batch::Wanted *wanted() const { return wantedRows.data(); }

  // Stores the numbers of a sequence, `rowsOf` whose outputs are there.
  void write(const talc_candidates &candidates, const std::function<const float *(int32_t output)> &rowsOf) const;

private:
  using Lists = std::array<std::vector<int32_t>, artifact::maxOutputs>;

  Status check(const talc_sequence &sequence, const talc_candidates &candidates, int32_t index) const;
  void addRows(const talc_candidates &candidates, Lists &lists) const;
  LogitParts::Sum find(int32_t word) const;

  const Model &model;
  const LogitParts parts;
  int32_t logits = -1;       // which result they are
  std::vector<Lists> lists;  // of each sequence, for each output; ascending
  std::vector<Batch::Wanted> wantedRows;
};

}  // namespace talc
