// SPDX-License-Identifier: Apache-2.0
// kernel.rope: rotary embedding.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult RopeOp::verify() {
  int64_t heads = getHeads();
  if (failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectDivides(*this, "heads", heads, features(getX()))) ||
      failed(expectStored(*this, "table", getTable(), 2)))
    return failure();
  if (failed(expectNatural(*this, "last", getLast())) || failed(expectNatural(*this, "digits", getDigits())))
    return failure();
  if (getDigits() > 0 && failed(expect(*this, "row count of the table", size(getTable(), 0), 3 * getDigits())))
    return failure();
  int64_t width = features(getX()) / heads, rotary = features(getTable());
  if (rotary > 0 && rotary % 2 == 0 && rotary <= width)
    return success();
  return emitOpError() << "width of the table is " << rotary << ", expected an even number up to " << width
                       << ", the width of a head";
}

OpCosts RopeOp::getCosts() {
  OpCosts costs;
  // A pair of elements takes four multiplies, an add and a subtract.
  costs.operations.perRow = 3 * getHeads() * features(getTable());
  costs.stored.perRow = rowBytes(getTable());
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getInit());
  return costs;
}

void RopeOp::printShapes(raw_ostream &out) {
  out << getHeads() << " heads x " << features(getX()) / getHeads();
}

}  // namespace talc::kernel
