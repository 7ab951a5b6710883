// SPDX-License-Identifier: Apache-2.0
// From a program in the llvm dialect to linked code: its functions as modules, their object code, and the linker. Equal
// objects give equal bytes.
#pragma once

#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/CpuTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace talc::cpu {

// All functions and globals.
mlir::OwningOpRef<mlir::ModuleOp> allCode(mlir::ModuleOp module);

// A function, declarations of those that it calls, and copies of the constants that it reads. Code has no variables:
// several threads and sessions run it.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> extractFunction(mlir::LLVM::LLVMFuncOp function,
                                                                  const mlir::SymbolTable &symbols);

// One object for each function of the llvm dialect that has a body, in the module's order. Tells when translation,
// optimization and emission begin. Threads are those of the module's context.
llvm::Expected<std::vector<targets::ObjectCode>> compileFunctions(mlir::ModuleOp module, const CpuFacts &cpu,
                                                                  targets::BeginPart begin);

// The same as text.
llvm::Expected<std::vector<targets::CodeListing>> listFunctions(mlir::ModuleOp module, const CpuFacts &cpu,
                                                                targets::BeginPart begin);

// The shared object that the runtime's loader maps: without undefined symbols and needed libraries, and with only those
// relocations that add the load address.
llvm::Expected<targets::LinkedCode> linkSharedObject(llvm::ArrayRef<targets::ObjectCode> objects);

// One relocatable object, which may refer to symbols of others.
llvm::Expected<std::vector<uint8_t>> mergeObjects(llvm::ArrayRef<targets::ObjectCode> objects);

// One relocatable object, without undefined symbols.
llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects);

}  // namespace talc::cpu
