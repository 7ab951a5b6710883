// SPDX-License-Identifier: Apache-2.0
// Assigns the formats of a mix, and tells of formats that took the place of others.
#pragma once

#include "compiler/passes/optimize/MatrixRoles.h"
#include "dialects/talc/formats/FormatChoice.h"

namespace talc {

// Collects what the user is told of the formats of matrices.
class FormatReport {
public:
  explicit FormatReport(mlir::ModuleOp module) : module(module), matrices(findMatrixRoles(module)) {}

  const MatrixRoles &matrixRoles() const { return matrices; }
  // The mix wants this format for a matrix, whose rows may not be whole blocks of it.
  void setWanted(mlir::Operation *matrix, FormatRef format) { wanted[matrix] = format; }

  // Writes the attribute of the module once all matrices have a format.
  void write(bool describesMix);

private:
  mlir::ModuleOp module;
  MatrixRoles matrices;
  llvm::DenseMap<mlir::Operation *, FormatRef> wanted;
};

// Writes on weights without a rule the formats of `choice.mix`.
void assignMix(mlir::ModuleOp module, const FormatChoice &choice, FormatReport &report);

}  // namespace talc
