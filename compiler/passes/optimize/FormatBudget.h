// SPDX-License-Identifier: Apache-2.0
// Formats for units of matrices, so that all together keep to a size.
#pragma once

#include "compiler/passes/optimize/FormatErrors.h"

namespace talc {

struct CostedUnit {
  FormatUnit matrices;
  std::vector<FormatCost> costs;  // of the formats that it can have
  size_t chosen = 0;

  const FormatCost &cost() const { return costs[chosen]; }
};

// Of what a rule of `choice` or format names, else of all formats that users choose from and that rows are whole
// blocks of. Fails where values cannot be read, or no format has them.
llvm::Expected<std::vector<CostedUnit>> costUnits(mlir::ModuleOp module, const FormatChoice &choice,
                                                  WeightGraph &graph);

// Numbers of costs, by size, of which each is worth its bits: the lower convex hull.
std::vector<size_t> lowerHull(llvm::ArrayRef<FormatCost> costs);

int64_t totalValues(llvm::ArrayRef<CostedUnit> units);
int64_t totalBits(llvm::ArrayRef<CostedUnit> units);

// Least error in so many bits, or the fewest bits if even these are more.
void chooseWithinBudget(llvm::MutableArrayRef<CostedUnit> units, int64_t mostBits);

}  // namespace talc
