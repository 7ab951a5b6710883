// SPDX-License-Identifier: Apache-2.0
// kernel.softmax: softmax over the features of every row.
#include "dialects/kernel/pieces/PieceChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult SoftmaxOp::verify() {
  return expectSameShape(*this, getX(), getInit());
}

PieceCosts SoftmaxOp::getCosts() {
  PieceCosts costs;
  // Compare, subtract, exponential, add, multiply.
  costs.operations.perRow = 5 * features(getX());
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getInit());
  return costs;
}

void SoftmaxOp::printShapes(raw_ostream &out) {
  out << features(getX());
}

}  // namespace talc::kernel
