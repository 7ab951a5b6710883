// SPDX-License-Identifier: Apache-2.0
// The tokens of one step, checked and laid end to end.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/artifact/StepContext.h"

#include <vector>

namespace talc {

// Vectors keep their capacity from step to step, so that a step no larger than those before allocates nothing.
class Batch {
public:
  // `lengths` has the tokens that each slot holds before the step. On failure the batch is undefined.
  Status build(const Model &model, const std::vector<int32_t> &lengths, const talc_sequence *sequences, int32_t count);

  const std::vector<int32_t> &ids() const { return tokenIds; }
  const std::vector<artifact::Row> &rows() const { return tokenRows; }
  const std::vector<artifact::Span> &spans() const { return sequenceSpans; }
  const std::vector<int32_t> &outputRows() const { return wantedRows; }
  // outputRows of sequence i are firstOutput(i) to firstOutput(i + 1) - 1.
  int32_t firstOutput(size_t sequence) const { return firstOutputs[sequence]; }

private:
  Status check(const Model &model, const std::vector<int32_t> &lengths, const talc_sequence &sequence, int32_t index);
  void append(const talc_sequence &sequence, int32_t length);

  std::vector<int32_t> tokenIds, wantedRows, firstOutputs;
  std::vector<artifact::Row> tokenRows;
  std::vector<artifact::Span> sequenceSpans;
  std::vector<uint64_t> usedInStep;  // [slot], the last step that used it
  uint64_t step = 0;
};

}  // namespace talc
