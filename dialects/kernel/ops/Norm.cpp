// SPDX-License-Identifier: Apache-2.0
// kernel.norm: layer or root-mean-square normalization.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult NormOp::verify() {
  int64_t groups = getGroups();
  if (failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectDivides(*this, "groups", groups, features(getX()))))
    return failure();
  // Parameters of one group, which all groups share, or of all groups.
  auto expectGroups = [&](StringRef what, Value vector) {
    int64_t width = features(getX()),
            length = getShapedType(vector).getRank() == 1 ? getShapedType(vector).getDimSize(0) : 0;
    return expectVector(*this, what, vector, length == width ? width : width / groups);
  };
  if (failed(expectGroups("scale", getScale())) || (getBias() && failed(expectGroups("bias", getBias()))))
    return failure();
  double epsilon = getEpsilon().convertToDouble();
  return epsilon >= 0 ? success() : emitOpError() << "epsilon is " << epsilon << ", expected a number >= 0";
}

// rms: square, add, two multiplies; layer: also subtract the mean twice, add for it, add the bias.
OpCosts NormOp::getCosts() {
  OpCosts costs = rowWiseCosts(getX(), getInit(), getKind() == NormKind::rms ? 4 : 8);
  costs.stored.perCall = weightBytes(getScale()) + (getBias() ? weightBytes(getBias()) : 0);
  return costs;
}

void NormOp::printShapes(raw_ostream &out) {
  out << features(getX());
  if (getGroups() > 1)
    out << " in " << getGroups() << " groups";
}

}  // namespace talc::kernel
