// SPDX-License-Identifier: Apache-2.0
// CONTRACT between generated code and runtime: what a step function receives.
//
// A step evaluates rowCount tokens of spanCount sequences laid end to end (nothing is padded). It is one parallel
// program: the runtime calls the same function on every thread, each with a copy of the context that differs in
// `thread` alone; the generated code divides the work and calls `barrier` where data crosses threads.
//
// Exported symbols of a Code section: talc_prefill (any step) and talc_decode (rowCount 1 and outputCount 1). Both have
// the type StepFunction. The generated code has no undefined symbol.
#pragma once

#include <cstdint>

namespace talc::artifact {

// The tokens of one sequence in this step.
struct Span {
  int32_t firstRow;       // its first token's row
  int32_t rowCount;       // at least 1
  int32_t firstPosition;  // position of the first token in its sequence = tokens evaluated before
  int32_t slot;           // which state the sequence owns
};

// One token.
struct Row {
  int32_t position;  // in its sequence, counted from 0
  int32_t slot;
};

// Field order is part of the contract: generated code addresses fields by index (8 bytes each).
struct StepContext {
  int64_t thread;  // 0 to threads - 1
  int64_t threads;
  int64_t rowCount;
  int64_t spanCount;
  int64_t outputCount;        // rows whose logits are wanted
  const int32_t *ids;         // [rowCount], each in [0, vocabularySize)
  const Row *rows;            // [rowCount]
  const Span *spans;          // [spanCount]
  const int32_t *outputRows;  // [outputCount]
  const unsigned char *weights;
  unsigned char *state;  // slot s begins at state + s * ModelInfo::stateBytesPerSlot; fresh state is zero
  unsigned char *arena;  // 64-byte aligned, sized by ModelInfo for this rowCount and thread count
  float *output;         // [outputCount][vocabularySize]
  void (*barrier)(void *barrierState);
  void *barrierState;
  // For tools that measure; null in normal runs. Called with a kernel's number (its place in the manifest's list) when
  // a thread has finished its share of the kernel.
  void (*mark)(void *markState, int64_t thread, int64_t kernel);
  void *markState;
};

using StepFunction = void (*)(const StepContext *);

}  // namespace talc::artifact
