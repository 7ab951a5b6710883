// SPDX-License-Identifier: Apache-2.0
// Loads the MODEL of the command line: the only place that knows every frontend.
#pragma once

#include "tools/talc/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace talc::tools {

struct ModelInput {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<uint8_t> tokenizer;  // a Tokenizer section; empty: none
};

llvm::Expected<ModelInput> loadModel(const CompileOptions &options, mlir::MLIRContext &context);

}  // namespace talc::tools
