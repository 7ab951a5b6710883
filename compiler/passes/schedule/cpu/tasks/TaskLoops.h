// SPDX-License-Identifier: Apache-2.0
// How the threads of a processor share the tasks of a piece, a function for every space of kernel.tasks.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Each puts the tasks' body, in loops, in front of the tasks, where `e` stands; the body then is empty.
void shareRows(Emitter &e, kernel::TasksOp tasks);
void shareHeads(Emitter &e, kernel::TasksOp tasks);
void shareTiles(Emitter &e, kernel::TasksOp tasks);
void shareQueries(Emitter &e, kernel::TasksOp tasks);
void shareKeys(Emitter &e, kernel::TasksOp tasks);

// This thread's part of [0, count): [count * i / n, count * (i + 1) / n).
std::pair<mlir::Value, mlir::Value> ownPart(Emitter &e, mlir::Value step, mlir::Value count);

// Runs body(task) for the tasks i, i + n, ... of [0, count), with i this thread's number and n that of all threads.
void inTurn(Emitter &e, mlir::Value step, mlir::Value count, llvm::function_ref<void(mlir::Value)> body);

}  // namespace talc
