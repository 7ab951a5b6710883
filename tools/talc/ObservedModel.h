// SPDX-License-Identifier: Apache-2.0
// A copy of a model that shows, as its second result, what happens inside of it.
#pragma once

#include "tools/talc/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace talc::tools {

// Runs a pass such as observe-features; what it refuses it says to nobody.
bool observe(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass);

// Makes what the model's layers yield its second result, for the rows that are wanted of that:
//
//   y = call @block(x)          ->  y = call @block(x)
//   z = call @block(y)              z = call @block(y)
//   return logits                   return logits, select [y | z]
//
// Returns how many features each has; none if the model has several entries, or calls no layers.
std::vector<int64_t> observeLayers(mlir::ModuleOp module);

// Makes a library of what such a pass left, with the options' targets, weights and arithmetic.
llvm::Error compileObserved(mlir::ModuleOp module, const std::vector<uint8_t> &tokenizer, const CompileOptions &options,
                            const std::string &path);

}  // namespace talc::tools
