// SPDX-License-Identifier: Apache-2.0
// Which matrices of a module can be stored in formats of their own.
#pragma once

#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

namespace talc {

// Matrices with one format.
struct FormatUnit {
  llvm::SetVector<mlir::Operation *> weights;   // WeightOps of files, which a format can be given to
  llvm::SetVector<mlir::Operation *> matrices;  // WeightOps that layers read: those, or what recipes make of them
  llvm::SetVector<mlir::Operation *> tables;    // matrices whose rows are looked up
};

// In the order of the program. A unit is what multiplies the same activations in one call of a function, unless a rule
// of `choice` names its weights.
std::vector<FormatUnit> findFormatUnits(mlir::ModuleOp module, const FormatChoice &choice);

}  // namespace talc
