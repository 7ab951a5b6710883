// SPDX-License-Identifier: Apache-2.0
// kernel.route: the largest features of every row.
#include "dialects/kernel/pieces/PieceChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult RouteOp::verify() {
  if (failed(expectSameShape(*this, getX(), getInit())))
    return failure();
  int64_t count = getCount(), width = features(getX());
  if (count > 0 && count <= width)
    return success();
  return emitOpError() << "chooses " << count << " of " << width << " features";
}

// Every feature is compared once for each that is chosen.
PieceCosts RouteOp::getCosts() {
  return costsOfRows(getX(), getInit(), static_cast<int64_t>(getCount()));
}

void RouteOp::printShapes(raw_ostream &out) {
  out << getCount() << " of " << features(getX());
}

}  // namespace talc::kernel
