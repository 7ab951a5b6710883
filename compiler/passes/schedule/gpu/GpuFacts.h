// SPDX-License-Identifier: Apache-2.0
// Facts of a GPU that passes may ask for: sizes of memories, registers, and its MMA.
#pragma once

#include "compiler/passes/schedule/gpu/MmaAtom.h"

#include "mlir/IR/Operation.h"

namespace talc {

struct GpuFacts {
  int64_t subgroupSize;  // threads that can shuffle; 1: not known at compile time
  // Multiprocessors that a launch should keep busy. Split-K follows from it, and so do the bits of sums: it is the same
  // for all GPUs of a target.
  int64_t multiprocessors;
  int64_t sharedBytes;     // of shared memory that every launch has
  int64_t maxSharedBytes;  // of shared memory that a launch can ask for
  int64_t maxRegisters;    // of a thread
  int64_t registers;       // of a multiprocessor
  const MmaAtom *mma;      // null: the GPU has none

  // The most registers of a thread with which so many threads fit on a multiprocessor. For 0 threads it is 0: no limit.
  int64_t registersForThreads(int64_t threads) const;
};

// The facts that hold for every GPU.
const GpuFacts &anyGpu();
// `name`: an NVIDIA architecture such as sm_90, or vulkan. Null: unknown.
const GpuFacts *findGpu(llvm::StringRef name);

// For the options of passes: the facts of a GPU, without MMA if it is not wanted. Emits an error at
// `op` for an unknown name.
mlir::FailureOr<GpuFacts> getGpuFacts(mlir::Operation *op, llvm::StringRef name, bool useMma = true);

}  // namespace talc
