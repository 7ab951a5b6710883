// SPDX-License-Identifier: Apache-2.0
// A function that Halide makes for a kernel. It has only a declaration, whose attributes say what it computes, and hold
// the code that hgen made of that.
#pragma once

#include "compiler/generators/GeneratedCode.h"
#include "compiler/generators/cpu/Hgen.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace talc {

class HalideFunction {
public:
  HalideFunction(mlir::func::FuncOp kernel, llvm::StringRef suffix, const std::string &processor,
                 mlir::DictionaryAttr description);

  // Of functions of several kernels at a time. Without a processor there is no code. The first that fails and must not
  // ends the others, and is told of.
  static mlir::LogicalResult makeAll(mlir::MLIRContext *context, llvm::ArrayRef<HalideFunction *> functions);

  // False: hgen failed, MLIR makes the loops, and this has been said.
  bool isMade();
  // In front of the kernel, which may be another by now; so many buffers are passed.
  mlir::func::FuncOp declare(mlir::func::FuncOp before, size_t buffers) const;

private:
  mlir::LogicalResult make();
  bool isOptional() const;

  mlir::func::FuncOp kernel;
  HgenRequest request;
  std::optional<GeneratedCode> code;
  std::string problem;
};

// An entry of a description.
mlir::NamedAttribute numberEntry(mlir::MLIRContext *context, llvm::StringRef key, int64_t value);
mlir::NamedAttribute textEntry(mlir::MLIRContext *context, llvm::StringRef key, llvm::StringRef value);

}  // namespace talc
