// SPDX-License-Identifier: Apache-2.0
// The tokens of one step, checked and laid end to end.
#pragma once

#include "runtime/device/Step.h"
#include "runtime/session/Slots.h"

#include <array>
#include <vector>

namespace talc {

// Vectors keep their capacity from step to step, so that a step no larger than those before allocates nothing.
class Batch {
public:
  // Whether the step leaves sources in slots (talc_encode) or evaluates sequences.
  enum class Purpose { Encode, Evaluate };

  // For each output, the tokens of a sequence of which it is wanted.
  using Wanted = std::array<talc_wanted, artifact::maxOutputs>;

  // On failure the batch is undefined. `wanted`, one for each sequence, replaces what the sequences want; it is not
  // checked.
  Status build(const Model &model, const Slots &slots, const talc_sequence *sequences, int32_t count, Purpose purpose,
               const Wanted *wanted = nullptr);

  // Whether spans cover the tokens, and rows those of all sequences.
  bool isWhole() const;

  const std::vector<int32_t> &ids() const { return tokenIds; }
  const std::vector<artifact::StepToken> &tokens() const { return stepTokens; }
  const std::vector<artifact::Span> &spans() const { return sequenceSpans; }
  // The tokens of which an output is wanted; those of sequence i are firstOutput(i) to firstOutput(i + 1) - 1.
  const std::vector<int32_t> &wantedTokens(int32_t result) const { return outputs[result].rows; }
  int32_t firstOutput(int32_t result, size_t sequence) const { return outputs[result].first[sequence]; }

private:
  struct OutputList {
    std::vector<int32_t> rows, first;
  };

  void clear();
  void append(const Model &model, const Slots &slots, const talc_sequence &sequence, Purpose purpose,
              const Wanted &wanted);
  static void appendWanted(const talc_wanted &wanted, int32_t firstToken, int32_t count, std::vector<int32_t> &rows);

  std::vector<int32_t> tokenIds;
  std::vector<artifact::StepToken> stepTokens;
  std::vector<artifact::Span> sequenceSpans;
  OutputList outputs[artifact::maxOutputs];
  std::vector<uint64_t> usedInStep;  // [slot], the last step that used it
  uint64_t step = 0;
};

}  // namespace talc
