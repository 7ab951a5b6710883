// SPDX-License-Identifier: Apache-2.0
// The numbers of a plan of a piece that treats each row by itself.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"

namespace talc {

struct RowPlan {
  int64_t unroll = 1;  // so many iterations of the innermost loops become one

  static llvm::ArrayRef<TuningParameter<RowPlan>> parameters() {
    static constexpr TuningParameter<RowPlan> all[] = {{"unroll", &RowPlan::unroll, 1, 16}};
    return all;
  }
};

}  // namespace talc
