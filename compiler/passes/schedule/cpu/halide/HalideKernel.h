// SPDX-License-Identifier: Apache-2.0
// A kernel on its way to Halide: what the passes that replace pieces by calls of Halide's functions share.
#pragma once

#include "compiler/passes/schedule/cpu/halide/HalideFunction.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace talc {

class HalideKernel {
public:
  virtual ~HalideKernel() = default;

  // What it will call.
  virtual llvm::SmallVector<HalideFunction *> functions() = 0;
  // Calls take the place of the piece, or of its part that they compute.
  virtual void replace() = 0;
};

// Of a piece; nothing is made of another pass's. A failure has been said.
using MakeHalideKernel =
    llvm::function_ref<mlir::LogicalResult(mlir::Operation *piece, std::unique_ptr<HalideKernel> &made)>;

// Replaces the pieces of a module that assign-generators gave to Halide and that `make` takes. The functions of all of
// them are made first, several at a time; a kernel of which one is not made, and need not be, stays.
mlir::LogicalResult replaceByHalide(mlir::ModuleOp module, MakeHalideKernel make);

}  // namespace talc
