// SPDX-License-Identifier: Apache-2.0
// The table of GPUs.
#include "compiler/passes/schedule/gpu/GpuFacts.h"

#include <algorithm>

using namespace mlir;

namespace talc {

constexpr int64_t registerUnit = 8;  // registers are allocated in multiples

int64_t GpuFacts::registersForThreads(int64_t threads) const {
  return threads == 0 ? 0 : std::min(maxRegisters, registers / threads / registerUnit * registerUnit);
}

const GpuFacts &anyGpu() {
  return *findGpu("vulkan");
}

const GpuFacts *findGpu(StringRef name) {
  // What every GPU from sm_80 on has. A workgroup can have 163 KiB of shared memory on sm_80, but 99 KiB on sm_86.
  static const GpuFacts sm80 = {/*subgroupSize=*/32,         /*multiprocessors=*/128,
                                /*sharedBytes=*/48 << 10,
                                /*maxSharedBytes=*/96 << 10, /*maxRegisters=*/255,
                                /*registers=*/1 << 16,       &mmaSyncM16N8K16()};
  // Vulkan tells the size of subgroups at run time only.
  static const GpuFacts vulkan = {/*subgroupSize=*/1,
                                  /*multiprocessors=*/128,
                                  /*sharedBytes=*/48 << 10,
                                  /*maxSharedBytes=*/48 << 10,
                                  /*maxRegisters=*/255,
                                  /*registers=*/1 << 16,
                                  /*mma=*/nullptr};
  if (name == "vulkan")
    return &vulkan;
  int64_t architecture = 0;
  if (!name.consume_front("sm_") || name.getAsInteger(10, architecture) || architecture < 80)
    return nullptr;
  return &sm80;
}

FailureOr<GpuFacts> getGpuFacts(Operation *op, StringRef name, bool useMma) {
  const GpuFacts *row = findGpu(name);
  if (!row)
    return op->emitError("unknown GPU '") << name << "', expected an architecture from sm_80 on, or vulkan";
  GpuFacts facts = *row;
  facts.mma = useMma ? facts.mma : nullptr;
  return facts;
}

}  // namespace talc
