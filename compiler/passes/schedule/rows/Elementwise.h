// SPDX-License-Identifier: Apache-2.0
// Columns of an elementwise linalg.generic, for loops that divide rows among lanes.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace talc {

// Computes a vector of columns of a row.
void expandColumns(Emitter &e, mlir::linalg::GenericOp op, mlir::Value row, mlir::Value column, mlir::Value mask);

}  // namespace talc
