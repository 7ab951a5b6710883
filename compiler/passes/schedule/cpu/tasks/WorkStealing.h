// SPDX-License-Identifier: Apache-2.0
// Tasks that workers take while a step runs, with work stealing, and loops over them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class WorkStealing {
public:
  // For an op with so many tasks, if the i1 `isDynamic` is true. Begins the dynamic schedule.
  WorkStealing(Emitter &e, mlir::Value step, mlir::Value tasks, mlir::Value isDynamic);

  // The next task of this worker; with a static schedule `otherwise`.
  mlir::Value next(mlir::Value otherwise);

private:
  // Yields a value of type index.
  mlir::Value ifDynamic(llvm::function_ref<mlir::Value()> value, mlir::Value otherwise);

  Emitter &e;
  mlir::Value step, tasks, isDynamic, schedule;
};

// Runs body(i) for `first` and for what body yields, while that is in [from, from + count); returns the one that is
// not.
mlir::Value loopWithin(Emitter &e, mlir::Value first, mlir::Value from, mlir::Value count,
                       llvm::function_ref<mlir::Value(mlir::Value)> body);

// A constant i1.
mlir::Value constantBool(Emitter &e, bool value);

}  // namespace talc
