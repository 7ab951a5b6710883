// SPDX-License-Identifier: Apache-2.0
// CONTRACT between generated code and runtime, on every device: the tokens of a step.
//
// A step evaluates the tokens of some sequences laid end to end; nothing is padded. A token is a row.
#pragma once

#include <cstdint>

namespace talc::artifact {

// What a step is given for each of its tokens; null where its entry does not read it (InputKind).
struct StepInputs {
  const int32_t *tokenIds;  // [tokens of the step], each in [0, vocabularySize), or sourceVocabularySize for sources
};

// The tokens of one sequence in this step.
struct Span {
  int32_t firstToken;     // its first token's row
  int32_t tokenCount;     // at least 1
  int32_t firstPosition;  // position of the first token in its sequence, or in its segment = tokens there before
  int32_t slot;           // which state the sequence owns
  int32_t prefix;         // under a prefix mask: so many tokens of the sequence, counted from its first, see each other
  int32_t sourceSlot;     // which slot holds the sequence's source
  int32_t sourceLength;   // tokens of the source
  int32_t history;        // -1: all earlier tokens are in `slot`. Else token p < firstPosition is in history[this + p]
  int32_t segment;        // of its sequence, counted from 0; 0 if the model has no segments
};

// One token.
struct StepToken {
  int32_t position;  // in its sequence, or in its segment, counted from 0
  int32_t slot;
  int32_t type;  // which row of the table of token types; 0 if the model has none
};

// Outputs that a step can have at most, each of a kind (OutputKind): the results of the model, and behind them the
// parts of its logits.
constexpr int64_t maxResults = 2, maxOutputs = 8;

}  // namespace talc::artifact
