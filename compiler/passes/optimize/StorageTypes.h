// SPDX-License-Identifier: Apache-2.0
// The element type in which a weight is stored in the artifact.
#pragma once

#include "compiler/passes/optimize/CallSites.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

namespace talc {

// The element type of a weight without recipe in its file; f32 if it has no file.
mlir::Type fileType(WeightOp weight);

// Writes `format` on every matrix of the module: on weights, and on values that recipes derive from weights. A
// format in `choice` comes first, then the format that the weight already has, then the format of its file.
void assignFormats(mlir::ModuleOp module, const FormatChoice &choice);

// Reads the formats that assign-formats wrote. Weights without `format` have the format of their file.
class StorageTypes {
public:
  // `keepsFileBlocks`: see throughRecipe.
  explicit StorageTypes(mlir::ModuleOp module, bool keepsFileBlocks = true);

  // The element type for `weight`, a value that follows from `talc.get_weight` through derivations and calls: f32 if
  // the weights that it follows from disagree. If its rows are not whole blocks of the format, the next larger one.
  mlir::Type getType(mlir::Value weight);

  // The format without regard to rows; null if no weight is behind the value.
  mlir::Type findFormat(mlir::Value weight);
  mlir::Type findFormat(WeightOp weight);

private:
  mlir::Type agree(mlir::Type lhs, mlir::Type rhs) const;
  mlir::Type throughRecipe(mlir::Attribute recipe, mlir::Type source) const;

  mlir::Type f32;
  bool keepsFileBlocks;
  CallSites callSites;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, mlir::Type> values;
  llvm::DenseMap<mlir::Operation *, mlir::Type> weights;
};

}  // namespace talc
