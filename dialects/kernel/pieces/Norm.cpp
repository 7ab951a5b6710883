// SPDX-License-Identifier: Apache-2.0
// kernel.norm: layer or root-mean-square normalization.
#include "dialects/kernel/pieces/PieceChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult NormOp::verify() {
  int64_t groups = getGroups();
  if (failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectDivides(*this, "groups", groups, features(getX()))))
    return failure();
  int64_t width = features(getX()) / groups;
  if (failed(expectVector(*this, "scale", getScale(), width)) ||
      (getBias() && failed(expectVector(*this, "bias", getBias(), width))))
    return failure();
  double epsilon = getEpsilon().convertToDouble();
  return epsilon >= 0 ? success() : emitOpError() << "epsilon is " << epsilon << ", expected a number >= 0";
}

// rms: square, add, two multiplies; layer: also subtract the mean twice, add for it, add the bias.
PieceCosts NormOp::getCosts() {
  PieceCosts costs = costsOfRows(getX(), getInit(), getKind() == NormKind::rms ? 4 : 8);
  costs.stored.perCall = weightBytes(getScale()) + (getBias() ? weightBytes(getBias()) : 0);
  return costs;
}

void NormOp::printShapes(raw_ostream &out) {
  out << features(getX());
  if (getGroups() > 1)
    out << " in " << getGroups() << " groups";
}

}  // namespace talc::kernel
