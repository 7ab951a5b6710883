// SPDX-License-Identifier: Apache-2.0
// Tuning parameters that several ops have, or that have no file of their own.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"

namespace talc {

// Whether an op has a tuning parameter of this name on CPUs.
bool isCpuParameter(llvm::StringRef name);

// Which generator makes the loops of an op that several can make; assign-generators reads it.
struct GeneratorTunables {
  int64_t byHalide = 0;  // 1: Halide, if --generator=auto lets plans choose

  static llvm::ArrayRef<TuningParameter<GeneratorTunables>> parameters() {
    static constexpr TuningParameter<GeneratorTunables> all[] = {{"by_halide", &GeneratorTunables::byHalide, 0, 1}};
    return all;
  }
};

// The loops of a row-wise op.
struct RowTunables {
  int64_t unroll = 1;  // iterations of the innermost loops that become one

  static llvm::ArrayRef<TuningParameter<RowTunables>> parameters() {
    static constexpr TuningParameter<RowTunables> all[] = {{"unroll", &RowTunables::unroll, 1, 16}};
    return all;
  }
};

// The distribution of a matmul's tiles to threads; distribute-tasks reads it.
struct DistributionTunables {
  // Fewer rows are divided statically: every thread reads the weights of its panels once, in order. More rows are
  // divided by work stealing (claimed_rows).
  int64_t stealingRows = 24;
  // So many tasks make a thread's share, of which others can steal some, unless blocks would fall below so many rows.
  int64_t shareTasks = 8, shareRows = 32;
  // 1: the tasks of a group of panels follow each other, so that its weights stay in cache; 0: those of a block of
  // rows, so that these stay there.
  int64_t byPanels = 0;

  static llvm::ArrayRef<TuningParameter<DistributionTunables>> parameters() {
    using T = DistributionTunables;
    static constexpr TuningParameter<T> all[] = {{"by_panels", &T::byPanels, 0, 1},
                                                 {"claimed_rows", &T::stealingRows, 1, 1 << 20},
                                                 {"share_rows", &T::shareRows, 1, 1 << 20},
                                                 {"share_tasks", &T::shareTasks, 1, 1 << 10}};
    return all;
  }
};

}  // namespace talc
