// SPDX-License-Identifier: Apache-2.0
// Names of what elementwise code computes, in terms of the model, for reports.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

// "bias", "gelu_tanh", "residual": what `body` computes from its first `values` arguments. The other arguments are
// elements of `others`.
llvm::SmallVector<std::string> fusedOps(mlir::Block &body, unsigned values, mlir::ValueRange others);

}  // namespace talc::kernel
