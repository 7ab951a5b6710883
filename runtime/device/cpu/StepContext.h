// SPDX-License-Identifier: Apache-2.0
// CONTRACT between code for CPUs and runtime: the argument of a step function.
//
// A step evaluates tokenCount tokens of spanCount sequences, laid end to end without padding. It is one parallel
// program: the runtime calls the same function for every worker, each with a copy of the context that differs in
// `worker` alone. The generated code divides the work, calls `nextTask` where the schedule is dynamic, and `barrier`
// where data crosses workers. Between barriers another thread of the system may continue a worker.
//
// Exported symbols of a Code section, all of the type StepFunction (Entries.h):
//   a decoder           talc_prefill (any step) and talc_decode (tokenCount 1, and every result wanted of it)
//   an encoder          talc_encode: every span is a whole sequence (firstPosition 0), nothing is kept
//   an encoder-decoder  all three: talc_encode has no results, but leaves whole sources in the slots of its spans
// The generated code has no undefined symbols.
#pragma once

#include "runtime/device/Step.h"

namespace talc::artifact {

// The tokens of which the caller wants one output, and where that goes.
struct Output {
  int64_t count;
  const int32_t *tokens;  // [count], tokens of the step
  float *data;            // [count][width]
};

// Field order is part of the contract: generated code addresses fields by index (8 bytes each).
struct StepContext {
  int64_t worker;  // 0 to workers - 1
  int64_t workers;
  int64_t tokenCount;
  int64_t spanCount;
  StepInputs inputs;
  const StepToken *tokens;  // [tokenCount]
  const Span *spans;        // [spanCount]
  const int32_t *history;   // slots; see Span::history
  const unsigned char *weights;
  // Slot s begins at kvCache + s * ModelInfo::kvBytesPerSlot. It is zero where no step has written since the session
  // began; elsewhere it may hold tokens of earlier sequences.
  unsigned char *kvCache;
  unsigned char *arena;        // 64-byte aligned, sized by ModelInfo for this tokenCount and number of workers
  Output outputs[maxResults];  // the first ones
  void (*barrier)(void *barrierState);
  void *barrierState;
  // Work stealing: returns the next task in [0, tasks) of a dynamically scheduled op for the worker. First come those
  // of its own share, [tasks * worker / workers, tasks * (worker + 1) / workers), in ascending order, then some of
  // others who have begun the op, and at last `tasks`, when its share is done by whichever workers; what those wrote
  // is visible then. All workers pass the same ops, numbered from 0 in each step, in the same order.
  int64_t (*nextTask)(void *schedulerState, int64_t worker, int64_t op, int64_t tasks);
  void *schedulerState;
  int64_t dynamicOps;  // 0 at first; generated code counts its dynamically scheduled ops here
  // A hook for profilers; null in normal runs. Called with a kernel's number (its index in the manifest's list) when a
  // worker has finished its share of the kernel.
  void (*mark)(void *markState, int64_t worker, int64_t kernel);
  void *markState;
  Output moreOutputs[maxOutputs - maxResults];  // the rest
  const unsigned char *tables;                  // rotary tables: the weights that are not among the stored ones
  // Training alone reads these; null in inference.
  const int32_t *labels;     // [wanted tokens of the first output]; negative: none
  const float *lossScale;    // 1 / number of labels
  unsigned char *gradients;  // buffers of weights, to which a step adds

  Output &output(int64_t number) { return number < maxResults ? outputs[number] : moreOutputs[number - maxResults]; }
};

using StepFunction = void (*)(StepContext *);

}  // namespace talc::artifact
