// SPDX-License-Identifier: Apache-2.0
// kernel.quantize: rows rounded to integers of 8 bits.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult QuantizeOp::verify() {
  if (failed(expectActivations(*this, "x", getX())) || failed(expectQuantized(*this, "init", getInit())) ||
      failed(expectRows(*this, "row count of init", getInit(), getX())))
    return failure();
  return expect(*this, "width of init", features(getInit()), features(getX()));
}

// Magnitude, comparison, multiply, round, two sums.
OpCosts QuantizeOp::getCosts() {
  return costsOfRows(getX(), getInit(), 6);
}

void QuantizeOp::printShapes(raw_ostream &out) {
  out << features(getX());
}

}  // namespace talc::kernel
