// SPDX-License-Identifier: Apache-2.0
// Some columns of an elementwise linalg.generic, for pieces that divide rows.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace talc {

// A vector of columns of a row.
void expandColumns(Emitter &e, mlir::linalg::GenericOp op, mlir::Value row, mlir::Value column, mlir::Value mask);

}  // namespace talc
