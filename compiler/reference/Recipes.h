// SPDX-License-Identifier: Apache-2.0
// Weights that follow from other weights.
#pragma once

#include "compiler/reference/Tensors.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace talc::reference {

// Applies a recipe of the talc dialect (or #talc.fill) to its sources and rounds to the element type of `type`. `name`
// is for messages. Fails (WeightRecipe) if the shapes do not fit.
llvm::Expected<Weight> applyRecipe(const std::string &name, mlir::Attribute recipe,
                                   const std::vector<WeightPtr> &sources, mlir::RankedTensorType type);

}  // namespace talc::reference
