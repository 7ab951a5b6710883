// SPDX-License-Identifier: Apache-2.0
// Passes that end a stage, which stages share.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace talc {

// Verifies first. It leaves branches to LLVM: simplifying them here would take longer than everything else.
void canonicalize(mlir::OpPassManager &passes);

// The upstream conversions from vectors, loops and buffers to LLVM.
void addConversionToLLVM(mlir::OpPassManager &passes);

// Reports operations of other dialects, and invalid IR.
void checkDialects(mlir::OpPassManager &passes, llvm::ArrayRef<std::string> dialects);

// Canonicalizes, then checks that all operations belong to the dialects of the next stage.
void endStage(mlir::OpPassManager &passes, llvm::ArrayRef<std::string> dialects);

}  // namespace talc
