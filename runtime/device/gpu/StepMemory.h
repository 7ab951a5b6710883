// SPDX-License-Identifier: Apache-2.0
// What sessions need on a GPU, and what the bases of arguments are.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/device/gpu/LaunchCode.h"

namespace talc {

// a * b + c, or UINT64_MAX.
uint64_t multiplyAdd(uint64_t a, uint64_t b, uint64_t c);

// States, the arena and the tables of a step, and results; UINT64_MAX for more than can be counted.
WorkspaceMemory gpuMemoryFor(const artifact::ModelInfo &facts, int32_t slots, const StepSize &size);

// Of these the tables of a step.
uint64_t stepWordBytes(const artifact::ModelInfo &facts, uint64_t rows);

// Addresses on the GPU of what arguments of launches lie in.
struct StepAddresses {
  uint64_t weights, states, arena, words, results[artifact::maxOutputs];
};
LaunchValues valuesOf(const Step &step, const StepAddresses &addresses);

// As many rows and wanted rows as either has.
StepSize largerOf(const StepSize &a, const StepSize &b);

}  // namespace talc
