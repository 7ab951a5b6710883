// SPDX-License-Identifier: Apache-2.0
// kernel.quantize: quantizes activations to int8 codes with scales, or converts them to bf16.
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
  return rowWiseCosts(getX(), getInit(), 6);
}

void QuantizeOp::printShapes(raw_ostream &out) {
  out << features(getX());
}

}  // namespace talc::kernel
