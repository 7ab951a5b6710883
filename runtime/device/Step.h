// SPDX-License-Identifier: Apache-2.0
// CONTRACT between generated code and runtime on every device: the tokens of a step.
//
// A step evaluates tokens of some sequences, laid end to end without padding.
#pragma once

#include <cstdint>

namespace talc::artifact {

// The inputs of a step, per token; null where its entry does not read them (InputKind).
struct StepInputs {
  const int32_t *tokenIds;  // [tokens of the step], each in [0, vocabularySize), or sourceVocabularySize for sources
};

// The tokens of one sequence in this step.
struct Span {
  int32_t firstToken;     // index of its first token in the step
  int32_t tokenCount;     // at least 1
  int32_t firstPosition;  // position of the first token in its sequence or segment = tokens there before
  int32_t slot;           // the sequence's slot of the KV cache
  int32_t prefix;         // with a prefix mask: the number of first tokens of the sequence that see each other
  int32_t sourceSlot;     // the slot that holds the sequence's source
  int32_t sourceLength;   // tokens of the source
  int32_t history;  // -1: all earlier tokens are in `slot`; else token p < firstPosition is in slot history[this + p]
  int32_t segment;  // index of the segment; 0 if the model has no segments
};

// One token.
struct StepToken {
  int32_t position;  // in its sequence or segment, counted from 0
  int32_t slot;
  int32_t type;  // index into the table of token types; 0 if the model has none
};

// The most outputs of a step, each of a kind (OutputKind): the results of the model, then the parts of its logits.
constexpr int64_t maxResults = 2, maxOutputs = 8;

}  // namespace talc::artifact
