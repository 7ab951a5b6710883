// SPDX-License-Identifier: Apache-2.0
// kernel.join: concatenates the features of each head of x and y.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult JoinOp::verify() {
  for (auto [what, data] : {std::pair("x", getX()), std::pair("y", getY()), std::pair("init", getInit())})
    if (failed(expectActivations(*this, what, data)) || failed(expectRows(*this, "row count", data, getX())) ||
        failed(expectDivides(*this, "heads", getHeads(), features(data))))
      return failure();
  return expect(*this, "width of init", features(getInit()), features(getX()) + features(getY()));
}

OpCosts JoinOp::getCosts() {
  OpCosts costs;
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getY()) + rowBytes(getInit());
  return costs;
}

void JoinOp::printShapes(raw_ostream &out) {
  out << getHeads() << " heads x " << features(getX()) / static_cast<int64_t>(getHeads()) << " + "
      << features(getY()) / static_cast<int64_t>(getHeads());
}

}  // namespace talc::kernel
