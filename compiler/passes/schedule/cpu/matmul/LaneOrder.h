// SPDX-License-Identifier: Apache-2.0
// A permutation of lanes: sums of two neighboring vectors of columns that lie in another order while a tile adds to
// them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class LaneOrder {
public:
  // `column`: which of the two vectors' columns a lane of the first (0) or second (1) vector has meanwhile.
  LaneOrder(int64_t lanes, llvm::function_ref<int64_t(int64_t vector, int64_t lane)> column) {
    for (auto &order : fromLanes)
      order.resize(lanes);
    for (int64_t vector : {0, 1})
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t source = column(vector, lane);
        toLanes[vector].push_back(source);
        fromLanes[source / lanes][source % lanes] = vector * lanes + lane;
      }
  }

  // From the order of columns to this one, and back.
  Emitter::Values apply(Emitter &e, mlir::ValueRange sums) const { return shuffle(e, toLanes, sums); }
  Emitter::Values restore(Emitter &e, mlir::ValueRange sums) const { return shuffle(e, fromLanes, sums); }

private:
  // For each of two vectors, which lanes of both it takes.
  using Order = std::array<llvm::SmallVector<int64_t>, 2>;

  static Emitter::Values shuffle(Emitter &e, const Order &order, mlir::ValueRange sums) {
    Emitter::Values shuffled;
    for (size_t i = 0; i < sums.size(); i += 2)
      for (const llvm::SmallVector<int64_t> &lanes : order)
        shuffled.push_back(mlir::vector::ShuffleOp::create(e.b, e.loc, sums[i], sums[i + 1], lanes));
    return shuffled;
  }

  Order toLanes, fromLanes;
};

}  // namespace talc
