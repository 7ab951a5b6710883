// SPDX-License-Identifier: Apache-2.0
// kernel.gather: looks up rows of a table.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

// The table is a weight, or activations of the step.
static LogicalResult verifyTable(GatherOp op) {
  if (op.getIndex() == GatherIndex::outputs)
    return expectActivations(op, "table", op.getTable());
  return getShapedType(op.getTable()).getRank() == 3 ? expectPanels(op, "table", op.getTable())
                                                     : expectStored(op, "table", op.getTable(), 2);
}

LogicalResult GatherOp::verify() {
  if (failed(expectActivations(*this, "init", getInit())) || failed(verifyTable(*this)) ||
      (!getPartial() && failed(expectNatural(*this, "offset", getOffset()))) ||
      failed(expectNatural(*this, "output", getOutput())))
    return failure();
  if ((getIndex() == GatherIndex::counted) != getPadding().has_value())
    return emitOpError("has the index counted or the id of padding, expected both or neither");
  if (getPartial() && getIndex() != GatherIndex::ids)
    return emitOpError("has a partial table, expected the index ids");
  return expect(*this, "width of init", features(getInit()), getShapedType(getTable()).getDimSize(1));
}

OpCosts GatherOp::getCosts() {
  OpCosts costs;
  int64_t read = byteSize(getTable(), features(getInit()));
  bool activations = getIndex() == GatherIndex::outputs;
  costs.stored.perRow = activations ? 0 : read;
  costs.passed.perRow = rowBytes(getInit()) + (activations ? read : 0);
  return costs;
}

void GatherOp::printShapes(raw_ostream &out) {
  out << features(getInit()) << " " << formatName(getTable());
}

}  // namespace talc::kernel
