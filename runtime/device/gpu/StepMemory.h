// SPDX-License-Identifier: Apache-2.0
// Memory on a GPU: how much sessions need, the bases of arguments in it, and the buffer that kernels read a step from.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/device/gpu/LaunchCode.h"

#include <vector>

namespace talc {

// a * b + c, or UINT64_MAX.
uint64_t multiplyAdd(uint64_t a, uint64_t b, uint64_t c);

// Bytes of the KV cache, of the arena and the tables of a step, and of results; UINT64_MAX for more than can be
// counted.
WorkspaceMemory gpuMemoryFor(const artifact::ModelInfo &facts, int32_t slots, const StepSize &size);

// Bytes of a step's tables, which are part of WorkspaceMemory::temporaries.
uint64_t stepWordBytes(const artifact::ModelInfo &facts, uint64_t tokens);

// Addresses on the GPU of the buffers in which arguments of launches lie.
struct StepAddresses {
  uint64_t weights, kvCache, arena, words, results[artifact::maxOutputs];
};
LaunchValues launchValues(const Step &step, const StepAddresses &addresses);

// Returns the larger number of tokens, and of tokens wanted of each result.
StepSize maxSize(const StepSize &a, const StepSize &b);

// ---- The buffer of a step: StepTables and its arrays, in words of 32 bits (StepWords.cpp)

// Returns an upper bound of the words of a step with so many tokens, of a model with so many results, but for the
// history of sequences that lie in several slots. UINT64_MAX for more than can be counted.
uint64_t maxStepWords(uint64_t tokens, uint64_t results);

// Fills `words`. The history has only what the step's sequences read; spans have its offsets.
void writeStepWords(const Step &step, std::vector<int32_t> &words);

}  // namespace talc
