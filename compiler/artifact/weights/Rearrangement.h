// SPDX-License-Identifier: Apache-2.0
// Describes weights that have the values of others in another order: transposed, merged, a part of them.
#pragma once

#include "compiler/artifact/weights/WeightGraph.h"

#include "llvm/ADT/SmallVector.h"

#include <functional>

namespace talc {

// A rectangle of a weight, which is a strided view of the row-major values of a source: element (row + r, column + c)
// is element begin + r * rowStride + c * columnStride of the source, plus `added`.
struct RearrangedTile {
  int64_t row, column, rows, columns;
  WeightOp source;
  int64_t begin, rowStride, columnStride;
  double added;
};

class Rearrangements {
public:
  // `isSource` names the weights that others are to be described by.
  Rearrangements(mlir::ModuleOp module, std::function<bool(WeightOp)> isSource);

  // The tiles of a weight; what no tile has does not depend on a source. Fails if its values follow from a source in
  // any other way.
  llvm::Expected<llvm::SmallVector<RearrangedTile>> find(WeightOp weight);
  // The weight that another one is made from.
  WeightOp operand(WeightOp weight, unsigned index = 0) const;

private:
  llvm::StringMap<WeightOp> symbols;
  std::function<bool(WeightOp)> isSource;
};

}  // namespace talc
