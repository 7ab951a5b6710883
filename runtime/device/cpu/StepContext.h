// SPDX-License-Identifier: Apache-2.0
// CONTRACT between code for processors and runtime: what a step function receives.
//
// A step evaluates tokenCount tokens of spanCount sequences laid end to end (nothing is padded). It is one parallel
// program: the runtime calls the same function for every thread, each with a copy of the context that differs in
// `thread` alone; the generated code divides the work, calls `nextTask` for tasks that are dealt while they run, and
// `barrier` where data crosses threads. From barrier to barrier another thread of the system may go on with it.
//
// Exported symbols of a Code section, all of the type StepFunction:
//   a decoder           talc_prefill (any step) and talc_decode (tokenCount 1, and 1 row wanted for every result)
//   an encoder          talc_encode: every span is a whole sequence (firstPosition 0), nothing is kept
//   an encoder-decoder  all three: talc_encode has no results, but leaves whole sources in the slots of its spans
// The generated code has no undefined symbol.
#pragma once

#include "runtime/device/Step.h"

namespace talc::artifact {

// The rows that the caller wants for one result of the model, and where they go.
struct Output {
  int64_t count;
  const int32_t *tokens;  // [count], tokens of the step
  float *data;            // [count][width]
};

// Field order is part of the contract: generated code addresses fields by index (8 bytes each).
struct StepContext {
  int64_t thread;  // 0 to threads - 1
  int64_t threads;
  int64_t tokenCount;
  int64_t spanCount;
  StepInputs inputs;
  const StepToken *tokens;  // [tokenCount]
  const Span *spans;        // [spanCount]
  const int32_t *history;   // slots; see Span::history
  const unsigned char *weights;
  // Slot s begins at state + s * ModelInfo::kvBytesPerSlot. Zero where no step has written since the session began;
  // what was written may be left from sequences before.
  unsigned char *kvCache;
  unsigned char *arena;        // 64-byte aligned, sized by ModelInfo for this tokenCount and thread count
  Output outputs[maxResults];  // of the first results
  void (*barrier)(void *barrierState);
  void *barrierState;
  // Returns the task in [0, tasks) of a piece that the thread is to do next: first those of its share, [tasks * thread
  // / threads, tasks * (thread + 1) / threads), in ascending order, then some of others who have begun the piece. At
  // last `tasks`, when its share is done, whichever thread did it; what others wrote there is visible then. All threads
  // nextTask of the same pieces, numbered from 0 in each step, in the same order.
  int64_t (*nextTask)(void *schedulerState, int64_t thread, int64_t piece, int64_t tasks);
  void *schedulerState;
  int64_t dynamicOps;  // 0 at first; the generated code counts here the pieces whose tasks it claims
  // For tools that measure; null in normal runs. Called with a kernel's number (its place in the manifest's list) when
  // a thread has finished its share of the kernel.
  void (*mark)(void *markState, int64_t thread, int64_t kernel);
  void *markState;
  Output moreOutputs[maxOutputs - maxResults];  // of the others

  Output &output(int64_t number) { return number < maxResults ? outputs[number] : moreOutputs[number - maxResults]; }
};

using StepFunction = void (*)(StepContext *);

}  // namespace talc::artifact
