// SPDX-License-Identifier: Apache-2.0
// Who makes the loops of a piece that several generators can make: the number of a plan that assign-generators reads.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"

namespace talc {

struct GeneratorPlan {
  int64_t byHalide = 0;  // 1: Halide, if --generator lets plans choose

  static llvm::ArrayRef<TuningParameter<GeneratorPlan>> parameters() {
    static constexpr TuningParameter<GeneratorPlan> all[] = {{"by_halide", &GeneratorPlan::byHalide, 0, 1}};
    return all;
  }
};

}  // namespace talc
