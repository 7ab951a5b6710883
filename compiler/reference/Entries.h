// SPDX-License-Identifier: Apache-2.0
// The functions of a module that evaluate steps.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace talc::reference {

// The functions with the attribute `talc.entry`, each (ids, sequences) -> activations...
struct Entries {
  mlir::func::FuncOp entry;   // of any number of tokens
  mlir::func::FuncOp decode;  // of exactly one; null before the entries are split
  mlir::func::FuncOp encode;  // of sources, without results; null if the model takes none

  // Fails (Program) if there is no entry with results, or one that cannot be called.
  static llvm::Expected<Entries> of(mlir::ModuleOp module);
};

}  // namespace talc::reference
