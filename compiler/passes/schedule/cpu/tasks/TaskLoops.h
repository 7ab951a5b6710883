// SPDX-License-Identifier: Apache-2.0
// How the workers of a CPU share the tasks of an op: a function for every task space of kernel.tasks.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Each moves the tasks' body, in loops, to where `e` stands, before the tasks; the body is empty afterwards.
void distributeRows(Emitter &e, kernel::TasksOp tasks);
void distributeHeads(Emitter &e, kernel::TasksOp tasks);
void distributeTiles(Emitter &e, kernel::TasksOp tasks);
void distributeQueries(Emitter &e, kernel::TasksOp tasks);
void distributeKeys(Emitter &e, kernel::TasksOp tasks);

// This worker's contiguous part of [0, count): [count * i / n, count * (i + 1) / n).
std::pair<mlir::Value, mlir::Value> blockPartition(Emitter &e, mlir::Value step, mlir::Value count);

// Runs body(task) for the tasks i, i + n, ... of [0, count), with i this worker's index and n the number of workers.
void cyclicLoop(Emitter &e, mlir::Value step, mlir::Value count, llvm::function_ref<void(mlir::Value)> body);

}  // namespace talc
