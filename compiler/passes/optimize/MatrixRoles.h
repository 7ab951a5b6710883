// SPDX-License-Identifier: Apache-2.0
// Finds what the matrices of a model are for, from the ops that use them.
#pragma once

#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatMix.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace talc {

// The matrices that a model multiplies by or looks rows up in: WeightOps.
struct MatrixRoles {
  llvm::MapVector<mlir::Operation *, MatrixRole> roles;
  MixedModel model;
};

MatrixRoles findMatrixRoles(mlir::ModuleOp module);

}  // namespace talc
