// SPDX-License-Identifier: Apache-2.0
// Loops over the rows of a task, and over the features of a row.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Of a buffer of rows.
int64_t rowWidth(mlir::Value memref);

// body(row) for the task's rows of `memref`
void eachRow(Emitter &e, mlir::Operation *piece, mlir::Value memref, llvm::function_ref<void(mlir::Value)> body);

// A row of numbers that the lanes share, in front of the tasks.
mlir::Value rowScratch(Emitter &e, mlir::Operation *piece, int64_t width);

// term(column, mask) of all columns under an operation, lane by lane, in four chains; masked lanes count as `neutral`.
mlir::Value foldColumns(Emitter &e, int64_t width, mlir::Value neutral,
                        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> operation,
                        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> term);

// Their sum, in every lane.
mlir::Value sumColumns(Emitter &e, int64_t width, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> term);

}  // namespace talc
