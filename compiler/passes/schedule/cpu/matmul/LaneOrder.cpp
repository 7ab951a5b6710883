// SPDX-License-Identifier: Apache-2.0
// Sums of neighbouring columns that lie in lanes of another order while a tile adds to them.
#include "compiler/passes/schedule/cpu/matmul/LaneOrder.h"

using namespace mlir;

namespace talc {

LaneOrder::LaneOrder(int64_t lanes, llvm::function_ref<int64_t(int64_t vector, int64_t lane)> column) {
  for (auto &order : toColumns)
    order.resize(lanes);
  for (int64_t vector : {0, 1})
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t place = column(vector, lane);
      toLanes[vector].push_back(place);
      toColumns[place / lanes][place % lanes] = vector * lanes + lane;
    }
}

Emitter::Values LaneOrder::inOrder(Emitter &e, const Order &order, ValueRange sums) {
  Emitter::Values ordered;
  for (size_t i = 0; i < sums.size(); i += 2)
    for (const SmallVector<int64_t> &lanes : order)
      ordered.push_back(vector::ShuffleOp::create(e.b, e.loc, sums[i], sums[i + 1], lanes));
  return ordered;
}

}  // namespace talc
