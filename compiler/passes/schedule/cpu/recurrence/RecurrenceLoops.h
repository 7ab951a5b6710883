// SPDX-License-Identifier: Apache-2.0
// What the loops of ops with states have in common: tasks, each of which takes a block of columns of one head of a
// sequence through all tokens that the step has of it.
#pragma once

#include "compiler/passes/schedule/Emitter.h"
#include "dialects/kernel/RecurrenceOps.h"

namespace talc {

// The task of which loops are emitted.
struct RecurrenceTask {
  // Sets the number of tasks, moves the emitter into the task, and clears the block if its sequence begins.
  RecurrenceTask(Emitter &e, mlir::Operation *op, mlir::Value step, mlir::Value state);

  // A vector of a row of the state; `column` counts in the block.
  mlir::Value load(mlir::Value row, mlir::Value column) { return e.load(view, {head, block, row, column}); }
  void store(mlir::Value vector, mlir::Value row, mlir::Value column) {
    e.store(vector, view, {head, block, row, column});
  }
  // That column of the head.
  mlir::Value columnOfHead(mlir::Value column) { return e.add(e.mul(block, columns), column); }
  // Memory of the task, allocated before all tasks in the frame of the function.
  mlir::Value buffer(llvm::ArrayRef<int64_t> shape);
  // The lanes of the vector at a column of the block that are in the state; null: all of them.
  mlir::Value mask(mlir::Value column);

  // A vector of a row of the block.
  struct Vector {
    mlir::Value column, feature;  // its place in the block, and among the features of all heads
    mlir::Value mask;             // see mask()
  };
  std::vector<Vector> vectors();

  Emitter &e;
  KvCacheType type;
  int64_t columns;  // of a block
  mlir::Value head, block, firstToken, endToken;

private:
  kernel::TasksOp tasks;
  mlir::Value view;
};

void expandCausalConv(Emitter &e, kernel::CausalConvOp op);
void expandRecurrence(Emitter &e, kernel::RecurrenceOp op);
void expandSelectiveScan(Emitter &e, kernel::SelectiveScanOp op);

}  // namespace talc
