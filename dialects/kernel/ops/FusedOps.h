// SPDX-License-Identifier: Apache-2.0
// What elementwise code computes, in the words of models, for reports.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

// "bias", "gelu_tanh", "residual": what `body` does to the value of its first `own` arguments. The arguments behind are
// elements of `others`.
llvm::SmallVector<std::string> fusedOps(mlir::Block &body, unsigned own, mlir::ValueRange others);

}  // namespace talc::kernel
