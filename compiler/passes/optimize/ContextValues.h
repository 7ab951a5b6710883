// SPDX-License-Identifier: Apache-2.0
// Finds activations that have a row for every token of the context (past and present) instead of the step.
#pragma once

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace talc {

// The values of `function` that follow from `talc.kv_read` through ops that keep tokens. The result of attention has
// the tokens of its queries.
llvm::DenseSet<mlir::Value> findContextValues(mlir::FunctionOpInterface function);

}  // namespace talc
