// SPDX-License-Identifier: Apache-2.0
// Makes object code of every function of a program, several at a time.
#pragma once

#include "compiler/targets/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace talc::cpu {

// One object for each function of the llvm dialect that has a body, in the module's order. Tells when translation,
// optimization and emission begin. Threads are those of the module's context.
llvm::Expected<std::vector<targets::ObjectCode>> compileFunctions(mlir::ModuleOp module, const CpuFacts &cpu,
                                                                  targets::BeginPart begin);

// The same as text.
llvm::Expected<std::vector<targets::CodeListing>> listFunctions(mlir::ModuleOp module, const CpuFacts &cpu,
                                                                targets::BeginPart begin);

}  // namespace talc::cpu
