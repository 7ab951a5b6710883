// SPDX-License-Identifier: Apache-2.0
// Sums of neighbouring columns that lie in lanes of another order while a tile adds to them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Of two neighbouring vectors of columns each.
class LaneOrder {
public:
  // Which of their columns a lane of the first (0) or second (1) vector has meanwhile.
  LaneOrder(int64_t lanes, llvm::function_ref<int64_t(int64_t vector, int64_t lane)> column);

  // From the columns' order, and back to it.
  Emitter::Values apart(Emitter &e, mlir::ValueRange sums) const { return inOrder(e, toLanes, sums); }
  Emitter::Values together(Emitter &e, mlir::ValueRange sums) const { return inOrder(e, toColumns, sums); }

private:
  // For each of two vectors, which lanes of both it takes.
  using Order = std::array<llvm::SmallVector<int64_t>, 2>;

  static Emitter::Values inOrder(Emitter &e, const Order &order, mlir::ValueRange sums);

  Order toLanes, toColumns;
};

inline LaneOrder::LaneOrder(int64_t lanes, llvm::function_ref<int64_t(int64_t vector, int64_t lane)> column) {
  for (auto &order : toColumns)
    order.resize(lanes);
  for (int64_t vector : {0, 1})
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t place = column(vector, lane);
      toLanes[vector].push_back(place);
      toColumns[place / lanes][place % lanes] = vector * lanes + lane;
    }
}

inline Emitter::Values LaneOrder::inOrder(Emitter &e, const Order &order, mlir::ValueRange sums) {
  Emitter::Values ordered;
  for (size_t i = 0; i < sums.size(); i += 2)
    for (const llvm::SmallVector<int64_t> &lanes : order)
      ordered.push_back(mlir::vector::ShuffleOp::create(e.b, e.loc, sums[i], sums[i + 1], lanes));
  return ordered;
}

}  // namespace talc
