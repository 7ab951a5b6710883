// SPDX-License-Identifier: Apache-2.0
// kernel.route: keeps the largest features of every row (MoE router).
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult RouteOp::verify() {
  if (failed(expectSameShape(*this, getX(), getInit())))
    return failure();
  int64_t count = getCount(), width = features(getX()), groups = getGroups(), topk = getTopkGroups();
  if (groups < 1 || width % groups != 0 || topk < 1 || topk > groups)
    return emitOpError() << "keeps " << topk << " of " << groups << " groups of " << width << " features";
  if (int64_t best = getGroupBest(); best < 1 || best > width / groups)
    return emitOpError() << "compares groups of " << width / groups << " by their " << best << " largest";
  if (count < 1 || count > width / groups * topk)
    return emitOpError() << "chooses " << count << " of " << width / groups * topk << " features";
  return getBias() ? expectVector(*this, "bias", getBias(), width) : success();
}

// Every feature is compared once for each one that is chosen.
OpCosts RouteOp::getCosts() {
  return rowWiseCosts(getX(), getInit(), static_cast<int64_t>(getCount()));
}

void RouteOp::printShapes(raw_ostream &out) {
  out << getCount() << " of " << features(getX());
}

}  // namespace talc::kernel
