// SPDX-License-Identifier: Apache-2.0
// An interface for kernels that become calls of Halide's functions, and the loop over them that passes share.
#pragma once

#include "compiler/passes/schedule/cpu/halide/HalideFunction.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace talc {

class HalideKernel {
public:
  virtual ~HalideKernel() = default;

  // The functions that it will call.
  virtual llvm::SmallVector<HalideFunction *> functions() = 0;
  // Replaces the op, or the part that they compute, by calls.
  virtual void replace() = 0;
};

// Makes the kernel of an op; none for an op of another pass. A failure has been reported.
using MakeHalideKernel =
    llvm::function_ref<mlir::LogicalResult(mlir::Operation *op, std::unique_ptr<HalideKernel> &kernel)>;

// Replaces the ops that assign-generators gave to Halide and that `make` takes. The functions of all of them are made
// first, several at a time; a kernel whose functions are optional stays as it is if one of them cannot be made.
mlir::LogicalResult replaceByHalide(mlir::ModuleOp module, MakeHalideKernel make);

}  // namespace talc
