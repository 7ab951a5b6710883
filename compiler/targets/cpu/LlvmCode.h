// SPDX-License-Identifier: Apache-2.0
// Takes code in the llvm dialect out of a program, as modules that can be translated one by one.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace talc::cpu {

// All functions and globals.
mlir::OwningOpRef<mlir::ModuleOp> allCode(mlir::ModuleOp module);

// A function, declarations of those that it calls, and copies of the constants that it reads. Code has no variables:
// several threads and sessions run it.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> extractFunction(mlir::LLVM::LLVMFuncOp function,
                                                                  const mlir::SymbolTable &symbols);

}  // namespace talc::cpu
