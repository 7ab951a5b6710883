// SPDX-License-Identifier: Apache-2.0
// In which element type a weight is stored in the artifact.
#pragma once

#include "compiler/passes/optimize/CallSites.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

namespace talc {

// The element type in which files have a weight without recipe; f32 where there is no file.
mlir::Type fileType(WeightOp weight);

// The rule behind the option `weights` of passes: for each weight the format that its name or the option asks for, that
// which choose-formats found, or that of its checkpoint; where its rows are no whole blocks of that, the next larger
// one.
class StorageTypes {
public:
  // `option`: see FormatChoice; reports an error for anything else.
  static mlir::FailureOr<StorageTypes> create(mlir::ModuleOp module, llvm::StringRef option);

  // The element type for `weight`, a value that follows from `talc.get_weight` through derivations and calls. f32 if
  // what it follows from disagrees.
  mlir::Type of(mlir::Value weight);

private:
  StorageTypes(mlir::ModuleOp module, FormatChoice choice);
  mlir::Type find(mlir::Value weight);
  mlir::Type find(WeightOp weight);
  mlir::Type throughRecipe(mlir::Attribute recipe, mlir::Type source) const;
  mlir::Type agree(mlir::Type lhs, mlir::Type rhs) const;
  mlir::Type typeOf(FormatRef format) const;
  bool isFixed() const { return choice.usual && choice.rules.empty(); }

  mlir::MLIRContext *context;
  mlir::Type f32;
  FormatChoice choice;
  CallSites callSites;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, mlir::Type> values;
  llvm::DenseMap<mlir::Operation *, mlir::Type> weights;
};

}  // namespace talc
