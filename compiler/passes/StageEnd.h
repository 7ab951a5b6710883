// SPDX-License-Identifier: Apache-2.0
// What stages have in common: how each of them ends.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace talc {

// Verifies first. Branches are for LLVM to simplify: looking for them here takes longer than all else.
void canonicalize(mlir::OpPassManager &passes);

// Upstream's way from vectors, loops and buffers to LLVM.
void addConversionToLLVM(mlir::OpPassManager &passes);

// Names any operation that is of none of these dialects, and whatever is not valid.
void checkDialects(mlir::OpPassManager &passes, llvm::ArrayRef<std::string> dialects);

// Every stage ends here: tidies up, then checks that all operations belong into the next stage.
void endStage(mlir::OpPassManager &passes, llvm::ArrayRef<std::string> dialects);

}  // namespace talc
