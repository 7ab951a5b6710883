// SPDX-License-Identifier: Apache-2.0
// Counts bytes in sums that do not overflow.
#include "runtime/device/gpu/StepMemory.h"

namespace talc {

uint64_t multiplyAdd(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result = 0;
  bool overflow = __builtin_mul_overflow(a, b, &result) || __builtin_add_overflow(result, c, &result);
  return overflow ? UINT64_MAX : result;
}

uint64_t stepWordBytes(const artifact::ModelInfo &facts, uint64_t tokens) {
  uint64_t results = 0;
  for (const artifact::OutputInfo &output : facts.outputs)
    results += output.width > 0;
  return multiplyAdd(maxStepWords(tokens, results), sizeof(int32_t), 0);
}

WorkspaceMemory gpuMemoryFor(const artifact::ModelInfo &facts, int32_t slots, const StepSize &size) {
  WorkspaceMemory memory;
  memory.kvCache = multiplyAdd(facts.kvBytesPerSlot, static_cast<uint64_t>(slots), 0);
  memory.temporaries = multiplyAdd(size.tokens, facts.arenaBytesPerToken, facts.arenaBytesFixed);
  memory.temporaries = multiplyAdd(facts.arenaBytesPerThread, 1, memory.temporaries);
  memory.temporaries = multiplyAdd(stepWordBytes(facts, size.tokens), 1, memory.temporaries);
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    memory.results = multiplyAdd(size.wanted[i], facts.outputs[i].width * sizeof(float), memory.results);
  return memory;
}

LaunchValues launchValues(const Step &step, const StepAddresses &addresses) {
  using artifact::LaunchBase;
  LaunchValues values = {};
  auto base = [&](LaunchBase which) -> uint64_t & { return values.bases[static_cast<uint32_t>(which)]; };
  base(LaunchBase::Weights) = addresses.weights;
  base(LaunchBase::KvCache) = addresses.kvCache;
  base(LaunchBase::Arena) = addresses.arena;
  base(LaunchBase::Step) = addresses.words;
  for (int64_t i = 0; i < artifact::maxOutputs; ++i) {
    base(resultBase(LaunchBase::Result0, i)) = addresses.results[i];
    base(resultBase(LaunchBase::Wanted0, i)) = static_cast<uint64_t>(step.wanted[i].count);
  }
  values.tokens = static_cast<uint64_t>(step.tokenCount);
  return values;
}

StepSize maxSize(const StepSize &a, const StepSize &b) {
  StepSize larger = {std::max(a.tokens, b.tokens), {}};
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    larger.wanted[i] = std::max(a.wanted[i], b.wanted[i]);
  return larger;
}

}  // namespace talc
