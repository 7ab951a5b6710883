// SPDX-License-Identifier: Apache-2.0
// kernel.combine: merges the partial attention results of key blocks for a single token.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult CombineOp::verify() {
  int64_t heads = getHeads();
  if (failed(expectActivations(*this, "init", getInit())) || failed(expectOneRow(*this, "init", getInit())) ||
      failed(expectDivides(*this, "heads", heads, features(getInit()))) ||
      failed(expectBlock(*this, getBlock(), PartialAttentionLayout::alignment)) ||
      failed(expectNatural(*this, "window", getWindow())))
    return failure();
  if (getSinks() && failed(expectVector(*this, "sinks", getSinks(), heads)))
    return failure();
  return expectPartialAttention(*this, "partials", getPartials(), heads, features(getInit()) / heads);
}

// The partial results grow with the keys, but are small compared to them: only the result is counted.
OpCosts CombineOp::getCosts() {
  OpCosts costs;
  costs.passed.perRow = rowBytes(getInit());
  return costs;
}

void CombineOp::printShapes(raw_ostream &out) {
  out << getHeads() << " heads x " << features(getInit()) / getHeads();
}

}  // namespace talc::kernel
