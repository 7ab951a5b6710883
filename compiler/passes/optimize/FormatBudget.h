// SPDX-License-Identifier: Apache-2.0
// Chooses formats for units of matrices, so that the total keeps to a size.
#pragma once

#include "compiler/artifact/weights/WeightGraph.h"
#include "compiler/passes/optimize/FormatUnits.h"

namespace talc {

struct FormatCost {
  FormatRef format;
  int64_t bits;  // for all values
  // The squared relative error that quantization causes in the products, times the number of values; or the divergence
  // of predictions, if the matrices have divergence. An embedding table counts at least as much as all other
  // matrices together; a tied table is an embedding table.
  double error;
};

// The costs of all `formats`. If the rows of a matrix are not whole blocks of a format, the next larger one takes its
// place. `multiplied`: the number of values in all matrices that are not embedding tables.
llvm::Expected<std::vector<FormatCost>> measureFormats(const FormatUnit &unit, llvm::ArrayRef<FormatRef> formats,
                                                       int64_t multiplied, WeightGraph &graph);

struct CostedUnit {
  FormatUnit matrices;
  std::vector<FormatCost> costs;  // of all formats that it can have
  size_t chosen = 0;

  const FormatCost &cost() const { return costs[chosen]; }
};

// Measures the units of a module: with the format of a rule in `choice` or of `format`, else with all formats for
// sizes whose blocks divide the rows. Fails if values cannot be read, or if no format can represent them.
llvm::Expected<std::vector<CostedUnit>> costUnits(mlir::ModuleOp module, const FormatChoice &choice,
                                                  WeightGraph &graph);

// The indices of the costs on the lower convex hull, by size: each of these is worth its bits.
std::vector<size_t> lowerHull(llvm::ArrayRef<FormatCost> costs);

int64_t totalValues(llvm::ArrayRef<CostedUnit> units);
int64_t totalBits(llvm::ArrayRef<CostedUnit> units);

// Minimizes the error within this many bits. If no choice keeps to them, chooses the fewest bits.
void chooseWithinBudget(llvm::MutableArrayRef<CostedUnit> units, int64_t maxBits);

}  // namespace talc
