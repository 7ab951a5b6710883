// SPDX-License-Identifier: Apache-2.0
// Finds the groups of matrices in a module that have to share a storage format.
#pragma once

#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

namespace talc {

// Matrices that share a format.
struct FormatUnit {
  llvm::SetVector<mlir::Operation *> weights;   // WeightOps without recipe, which can have a format
  llvm::SetVector<mlir::Operation *> matrices;  // WeightOps that layers read: these weights, or recipes over them
  llvm::SetVector<mlir::Operation *> tables;    // matrices whose rows are looked up
};

// In program order. A unit has the matrices that multiply the same activations in one call of a function, except those
// whose weights a rule of `choice` names.
std::vector<FormatUnit> findFormatUnits(mlir::ModuleOp module, const FormatChoice &choice);

}  // namespace talc
