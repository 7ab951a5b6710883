// SPDX-License-Identifier: Apache-2.0
// Which activations have a row for every past and present token instead of one for every token of the step.
#pragma once

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace talc {

// The values of `function` that come from `talc.kv_read` through ops that keep rows; attention returns to the rows of
// its queries.
llvm::DenseSet<mlir::Value> findContextValues(mlir::FunctionOpInterface function);

}  // namespace talc
