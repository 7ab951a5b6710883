// SPDX-License-Identifier: Apache-2.0
// What a row piece does with a line of columns, as code that hgen takes (tools/hgen/Row.cpp).
//
// The loops of row pieces are written in vectors, whatever these are (rows/RowWiseOps.h). With vectors as wide as a
// line, nothing is left of the loops over columns, and what the columns go through stands in one block:
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
  mlir::OwningOpRef<mlir::func::FuncOp> kernel;  // a copy, with vectors as wide as a line
  int64_t width = 0;
  std::string code;
  // In the copy: what loads the buffers that are read and stores those that are written, and all work on vectors.
  llvm::SmallVector<mlir::Operation *> read, written, work;
};

// Whether the piece is of a kind that has lines.
bool hasRowExpressions(mlir::Operation *piece);

// Of the kernel that the piece is; none, and why, if it is no line that Halide's code can be of.
std::optional<RowExpressions> buildRowExpressions(mlir::Operation *piece, std::string &why);

}  // namespace talc
