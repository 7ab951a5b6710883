// SPDX-License-Identifier: Apache-2.0
// What a row-wise op does with the columns of a row, as expressions that hgen reads (tools/hgen/Row.cpp).
//
// The loops of row-wise ops are written with vectors of any width (rows/RowWiseOps.h). With vectors as wide as a row,
// nothing is left of the loops over columns, and all work on columns is in one block:
//
//   for %row { %x = vector.load %in[%row, 0] : vector<768xf32>        load f32
//              %s = vector.reduction <add>, %x                        sum 0
//              %y = arith.mulf %x, broadcast %s                       mul 0 1
//              vector.store %y, %out[%row, 0] }                       store 2
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace talc {

struct RowExpressions {
  mlir::OwningOpRef<mlir::func::FuncOp> kernel;  // a copy, with vectors as wide as a row
  int64_t width = 0;
  std::string code;
  // In the copy: loads of buffers, stores to buffers, and all work on vectors.
  llvm::SmallVector<mlir::Operation *> loads, stores, work;
};

// Whether ops of this kind can have row expressions.
bool hasRowExpressions(mlir::Operation *op);

// Builds those of the kernel that holds the op; none, and the reason, if Halide cannot compute its rows.
std::optional<RowExpressions> buildRowExpressions(mlir::Operation *op, std::string &why);

}  // namespace talc
