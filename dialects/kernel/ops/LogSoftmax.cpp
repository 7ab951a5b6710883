// SPDX-License-Identifier: Apache-2.0
// kernel.log_softmax: log-probabilities of words, some of which are in clusters.
#include "dialects/kernel/ops/ComputeOpChecks.h"

#include <utility>

using namespace mlir;

namespace talc::kernel {

LogicalResult LogSoftmaxOp::verify() {
  int64_t words = features(getInit()), last = 0;
  if (failed(expectActivations(*this, "x", getX())) || failed(expectActivations(*this, "init", getInit())) ||
      failed(expectRows(*this, "row count of x", getX(), getInit())) ||
      failed(expect(*this, "width of x", features(getX()), words + static_cast<int64_t>(getTails().size()))))
    return failure();
  for (int64_t tail : getTails())
    if (tail <= std::exchange(last, tail) || tail >= words)
      return emitOpError() << "has a cluster from " << tail << " on, expected ascending numbers up to " << words;
  return success();
}

// Compare, subtract, exponential, add; add again.
OpCosts LogSoftmaxOp::getCosts() {
  return rowWiseCosts(getX(), getInit(), 5);
}

void LogSoftmaxOp::printShapes(raw_ostream &out) {
  out << features(getInit()) << " in " << getTails().size() + 1 << " clusters";
}

}  // namespace talc::kernel
