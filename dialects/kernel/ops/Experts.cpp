// SPDX-License-Identifier: Apache-2.0
// kernel.experts: multiplies activations by the weights of the experts that their tokens are routed to.
#include "dialects/kernel/ops/ComputeOpChecks.h"
#include "dialects/kernel/ops/FusedOps.h"

using namespace mlir;

namespace talc::kernel {

static LogicalResult verifyEpilogue(ExpertsOp op) {
  size_t arguments = (op.getGated() ? 2 : 3) + op.getBiases().size();
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != arguments ||
      !llvm::all_of(body.getArgumentTypes(), [](Type type) { return type.isF32(); }))
    return op.emitOpError() << "has an epilogue of " << body.getNumArguments() << " arguments, expected " << arguments
                            << " of f32";
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (yield && yield.getValues().size() == 1)
    return success();
  return op.emitOpError("has an epilogue that does not yield a single value");
}

// Either x or init has a slice of features for each slot.
LogicalResult ExpertsOp::verify() {
  for (auto [what, data] : {std::pair("routes", getRoutes()), std::pair("init", getInit())})
    if (failed(expectActivations(*this, what, data)) || failed(expectRows(*this, "row count", data, getX())))
      return failure();
  if (failed(expectMatmulInput(*this, "x", getX())) || failed(expectPanels(*this, "weight", getWeight())))
    return failure();
  ShapedType weight = getShapedType(getWeight());
  int64_t experts = features(getRoutes()), slots = getSlots(), lanes = weight.getDimSize(2);
  if (slots < 1 || slots > experts)
    return emitOpError() << "has " << slots << " slots for " << experts << " experts";
  if (lanes != 16 && lanes != 32 && lanes != 64)
    return emitOpError() << "has a weight in panels of " << lanes << " lanes, expected 16, 32 or 64";
  int64_t depth = weight.getDimSize(1), inputs = depth * (getGated() ? 1 : slots);
  if (failed(expect(*this, "width of x", features(getX()), inputs)) ||
      (getGated() && failed(expectDivides(*this, "slots", slots, features(getInit())))))
    return failure();
  if (int64_t block = elementFormat(getShapedType(getX())).jointValues(); depth % block != 0)
    return emitOpError() << "sums " << depth << " features, expected a multiple of the block size " << block;
  int64_t outputs = features(getInit()) / (getGated() ? slots : 1), columns = getGated() ? lanes / 2 : lanes;
  for (Value bias : getBiases())
    if (failed(expectVector(*this, "bias", bias, experts * outputs)))
      return failure();
  int64_t panels = experts * static_cast<int64_t>(llvm::divideCeil(outputs, columns));
  return failed(expect(*this, "number of panels", weight.getDimSize(0), panels)) ? failure() : verifyEpilogue(*this);
}

// Counts the weights of as many experts as a token has slots: a step reads between these and all.
OpCosts ExpertsOp::getCosts() {
  OpCosts costs;
  ShapedType weight = getShapedType(getWeight());
  int64_t experts = features(getRoutes()), slots = getSlots();
  costs.operations.perRow = 2 * slots * (weight.getNumElements() / experts);
  costs.stored.perCall = weightBytes(getWeight()) / experts * slots;
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getRoutes()) + rowBytes(getInit());
  return costs;
}

void ExpertsOp::printShapes(raw_ostream &out) {
  ShapedType weight = getShapedType(getWeight());
  out << getSlots() << " of " << features(getRoutes()) << " x " << weight.getDimSize(1) << " x "
      << (getGated() ? "2*" : "") << features(getInit()) / (getGated() ? getSlots() : 1) << " "
      << formatName(getWeight());
}

Share ExpertsOp::getDivision() {
  return hasOneRow(getX()) || getOutputIndex(getInit()) ? Share::columns : Share::adaptive;
}

TaskSpace ExpertsOp::getTaskSpace(Share) {
  return TaskSpace::tiles;
}

std::string ExpertsOp::getFused() {
  return getGated() ? llvm::join(fusedOps(getEpilogue().front(), 2, getBiases()), ", ") : "";
}

}  // namespace talc::kernel
