// SPDX-License-Identifier: Apache-2.0
// Tasks that threads claim while they run, and loops over them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class WorkStealing {
public:
  // Of a piece with so many tasks, if the i1 `dealt` is true. Begins the piece.
  WorkStealing(Emitter &e, mlir::Value step, mlir::Value tasks, mlir::Value dealt);

  // The task that this thread claims or, if tasks are not dealt, `otherwise`.
  mlir::Value next(mlir::Value otherwise);

private:
  // Of type index.
  mlir::Value either(llvm::function_ref<mlir::Value()> yes, mlir::Value no);

  Emitter &e;
  mlir::Value step, tasks, dealt, piece;
};

// Runs body(i) for `first` and for what body yields, while that is in [from, from + count); returns what is not.
mlir::Value loopWithin(Emitter &e, mlir::Value first, mlir::Value from, mlir::Value count,
                       llvm::function_ref<mlir::Value(mlir::Value)> body);

// An i1 that is known.
mlir::Value constantBool(Emitter &e, bool value);

}  // namespace talc
