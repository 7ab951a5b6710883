// SPDX-License-Identifier: Apache-2.0
// The cost model of matmuls: it chooses the tuning parameters that no override or record sets.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"

namespace talc {

// Facts of a processor that cost models read.
struct CpuCosts {
  IsaTraits traits;
  int64_t l2Bytes;
  bool dropsPrefetches;    // that exceed its line fill buffers, instead of letting them wait
  bool prefetchesStreams;  // the hardware prefetches a stream faster than software does
};

MatmulPlan chooseMatmulPlan(const MatmulShape &shape, const CpuCosts &costs);

// Gives up dequantized panels if other parameters, which were overridden, leave no room for their sums.
void fitDequantizedPanels(MatmulPlan &plan);

}  // namespace talc
