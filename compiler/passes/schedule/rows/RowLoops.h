// SPDX-License-Identifier: Apache-2.0
// Loops over the rows of a task and over the features of a row, and the columns that elementwise ops compute in them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace talc {

// The number of features of a buffer of rows.
int64_t rowWidth(mlir::Value memref);

// Runs body(row) for the rows of the task.
void eachRow(Emitter &e, mlir::Operation *op, mlir::Value memref, llvm::function_ref<void(mlir::Value)> body);

// A scratch row that the lanes share, allocated before the tasks.
mlir::Value rowScratch(Emitter &e, mlir::Operation *op, int64_t width);

// Folds term(column, mask) over all columns with an operation, lane by lane, in four chains; masked lanes are
// `neutral`.
mlir::Value foldColumns(Emitter &e, int64_t width, mlir::Value neutral,
                        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> operation,
                        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> term);

// The sum of term(column, mask) over all columns, in every lane.
mlir::Value sumColumns(Emitter &e, int64_t width, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> term);

// Computes a vector of columns of a row of an elementwise op, for loops that divide rows among lanes.
void expandColumns(Emitter &e, mlir::linalg::GenericOp op, mlir::Value row, mlir::Value column, mlir::Value mask);

}  // namespace talc
