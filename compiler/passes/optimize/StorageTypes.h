// SPDX-License-Identifier: Apache-2.0
// In which element type a weight is stored in the artifact.
#pragma once

#include "compiler/passes/optimize/CallSites.h"
#include "dialects/talc/TalcDialect.h"

namespace talc {

// The rule behind the option `weights` of passes: one type for all weights, or for each the type of its checkpoint.
class StorageTypes {
public:
  // `option` is the name of a storage format, or checkpoint; reports an error for anything else.
  static mlir::FailureOr<StorageTypes> create(mlir::ModuleOp module, llvm::StringRef option);

  // The element type for `weight`, a value that follows from `talc.get_weight` through derivations and calls.
  mlir::Type of(mlir::Value weight);

private:
  StorageTypes(mlir::ModuleOp module, mlir::Type fixed);
  mlir::Type find(mlir::Value weight);
  mlir::Type find(WeightOp weight);
  mlir::Type agree(mlir::Type lhs, mlir::Type rhs) const;

  mlir::Type f32, fixed;  // fixed: null for checkpoint
  CallSites callSites;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, mlir::Type> values;
  llvm::DenseMap<mlir::Operation *, mlir::Type> weights;
};

}  // namespace talc
