// SPDX-License-Identifier: Apache-2.0
// A function that Halide makes for a kernel: a declaration whose attributes say what it computes and hold the code that
// hgen made of that.
#pragma once

#include "compiler/generators/GeneratedCode.h"
#include "compiler/generators/cpu/Hgen.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace talc {

class HalideFunction {
public:
  HalideFunction(mlir::func::FuncOp kernel, llvm::StringRef suffix, const std::string &processor,
                 mlir::DictionaryAttr specification);

  // Makes the functions of several kernels at a time; without a processor they have no code. The first failure of a
  // function that is not optional stops the others, and is reported.
  static mlir::LogicalResult makeAll(mlir::MLIRContext *context, llvm::ArrayRef<HalideFunction *> functions);

  // False: hgen failed, MLIR makes the loops, and a warning says so.
  bool wasMade();
  // Declares the function before the kernel, which may be another one by now, with so many buffers as arguments.
  mlir::func::FuncOp declare(mlir::func::FuncOp before, size_t buffers) const;

private:
  mlir::LogicalResult make();
  bool isOptional() const;

  mlir::func::FuncOp kernel;
  HgenRequest request;
  std::optional<GeneratedCode> code;
  std::string problem;
};

// Entries of a specification.
mlir::NamedAttribute integerEntry(mlir::MLIRContext *context, llvm::StringRef key, int64_t value);
mlir::NamedAttribute stringEntry(mlir::MLIRContext *context, llvm::StringRef key, llvm::StringRef value);

}  // namespace talc
