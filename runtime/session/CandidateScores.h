// SPDX-License-Identifier: Apache-2.0
// Log-probabilities of candidates: the outputs that they need, of which tokens, and their values.
//
// Where logits have parts (LogitParts), a token needs its head, and the tails of the clusters that have a candidate;
// otherwise all of its logits.
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

  // Fails if candidates are wrong, and for models without logits.
  Status plan(const talc_sequence *sequences, const talc_candidates *candidates, int32_t count);
  // For each sequence, the tokens of which outputs are wanted.
  const Batch::Wanted *wanted() const { return wantedRows.data(); }

  // Stores the log-probabilities of a sequence; `rowsOf` returns its rows of an output.
  void write(const talc_candidates &candidates, const std::function<const float *(int32_t output)> &rowsOf) const;

private:
  using Lists = std::array<std::vector<int32_t>, artifact::maxOutputs>;

  Status check(const talc_sequence &sequence, const talc_candidates &candidates, int32_t index) const;
  void addRows(const talc_candidates &candidates, Lists &lists) const;
  LogitParts::Sum find(int32_t word) const;

  const Model &model;
  const LogitParts parts;
  int32_t logits = -1;       // index of the output with logits
  std::vector<Lists> lists;  // [sequence][output], ascending tokens
  std::vector<Batch::Wanted> wantedRows;
};

}  // namespace talc
