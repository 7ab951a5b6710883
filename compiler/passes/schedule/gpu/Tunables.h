// SPDX-License-Identifier: Apache-2.0
// Tuning parameters of compute ops on GPUs: how a workgroup's task is cut, and how its data reaches registers.
//
// None of them changes the order of sums, so that results have the same bits with every plan. Split-K and the keys of a
// block of attention do change it: they follow from shapes alone, so that parameters do not set them.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"
#include "compiler/passes/schedule/gpu/GpuFacts.h"

namespace talc {

// Whether an op has a tuning parameter of this name on GPUs.
bool isGpuParameter(llvm::StringRef name);

// A matmul by MMA. A task has some rows of the result and the columns of some panels; see MmaPlan.h.
struct MmaTunables {
  int64_t taskRows = 0;  // a multiple of the M of the instruction
  int64_t taskPanels = 0;
  int64_t stages = 0;        // of the multi-stage buffer in shared memory; 0: rows come from global memory
  int64_t stageWeights = 0;  // 1: weights go through the multi-stage buffer, too
  int64_t unroll = 1;        // k-steps of an iteration of the loop

  static llvm::ArrayRef<TuningParameter<MmaTunables>> parameters() {
    using T = MmaTunables;
    static constexpr TuningParameter<T> all[] = {{"stage_weights", &T::stageWeights, 0, 1},
                                                 {"stages", &T::stages, 0, 16},
                                                 {"task_panels", &T::taskPanels, 1, 8},
                                                 {"task_rows", &T::taskRows, 16, 128},
                                                 {"unroll_steps", &T::unroll, 1, 4}};
    return all;
  }
};

// A matmul by fused multiply-adds; see MatmulByFma.cpp.
struct FmaTunables {
  int64_t taskRows = 0;
  int64_t threadColumns = 0;  // neighboring columns of a thread; of a gated matmul, as many of gate and of up
  int64_t taskThreads = 0;    // threads that share the columns of a task, unless complete panels need more

  static llvm::ArrayRef<TuningParameter<FmaTunables>> parameters() {
    using T = FmaTunables;
    static constexpr TuningParameter<T> all[] = {{"task_rows", &T::taskRows, 1, 16},
                                                 {"task_threads", &T::taskThreads, 32, 256},
                                                 {"thread_columns", &T::threadColumns, 1, 4}};
    return all;
  }
};

// Attention by MMA: each warp has 16 queries, or a share of the features of such queries.
struct MmaAttentionTunables {
  int64_t warps = 0;  // of a workgroup

  static llvm::ArrayRef<TuningParameter<MmaAttentionTunables>> parameters() {
    static constexpr TuningParameter<MmaAttentionTunables> all[] = {{"warps", &MmaAttentionTunables::warps, 1, 8}};
    return all;
  }
};

// Attention by fused multiply-adds.
struct FmaAttentionTunables {
  int64_t taskQueries = 0;  // a power of two

  static llvm::ArrayRef<TuningParameter<FmaAttentionTunables>> parameters() {
    using T = FmaAttentionTunables;
    static constexpr TuningParameter<T> all[] = {{"task_queries", &T::taskQueries, 1, 16}};
    return all;
  }
};

// The occupancy that the registers of a thread allow.
struct OccupancyTunables {
  // Threads of a multiprocessor for which registers must suffice; 0: no limit, so that the driver chooses.
  int64_t residentThreads = 0;

  static llvm::ArrayRef<TuningParameter<OccupancyTunables>> parameters() {
    using T = OccupancyTunables;
    static constexpr TuningParameter<T> all[] = {{"resident_threads", &T::residentThreads, 0, 2048}};
    return all;
  }
};

// The plan of the tasks around an op, which may be null.
kernel::PlanAttr getPlan(mlir::Operation *computeOp);

// Reads parameters of an op unless there is a problem already, which otherwise says what is wrong with one of them.
template <typename Tunables> void readTunables(kernel::PlanAttr given, Tunables &tunables, std::string &problem) {
  if (problem.empty())
    problem = readPlan(given, Tunables::parameters(), tunables);
}

}  // namespace talc
